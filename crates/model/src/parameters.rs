//! Parameters by name, out of a model and back in.
//!
//! Names follow the module tree (`blocks.0.attention.query.weight`), except that the embeddings
//! stand at the top (`token_embedding`) and projections with their attention. Matrices are `[in, out]`, as in Keras.

use std::collections::BTreeMap;
use std::fmt;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};

use crate::TransformerClassifier;

/// A parameter's values on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Where it stands in the model.
    pub name: String,
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Row-major values.
    pub values: Vec<f32>,
}

/// Every way in which given parameters are not those of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterMismatch(pub Vec<String>);

impl fmt::Display for ParameterMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl std::error::Error for ParameterMismatch {}

impl TransformerClassifier {
    /// All parameters, in the model's order.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut collector = Collector::default();
        self.visit(&mut collector);
        collector.parameters
    }

    /// This model with other parameters.
    ///
    /// # Errors
    /// When `parameters` are not exactly this model's by name and shape, or hold NaN or infinity:
    /// lists each difference.
    pub fn with_parameters(
        self,
        parameters: impl IntoIterator<Item = Parameter>,
    ) -> Result<Self, ParameterMismatch> {
        let mut given: BTreeMap<String, Parameter> = parameters
            .into_iter()
            .map(|parameter| (parameter.name.clone(), parameter))
            .collect();
        let mut differences = Vec::new();
        for own in self.parameters() {
            match given.get(&own.name) {
                None => differences.push(format!("`{}` {:?} is missing", own.name, own.shape)),
                Some(other) if other.shape != own.shape => differences.push(format!(
                    "`{}` has shape {:?}, not {:?}",
                    own.name, other.shape, own.shape
                )),
                Some(other) if !other.values.iter().all(|value| value.is_finite()) => {
                    differences.push(format!("`{}` holds NaN or infinity", own.name));
                }
                Some(_) => {}
            }
        }
        let own: Vec<String> = self.parameters().into_iter().map(|own| own.name).collect();
        for name in given.keys().filter(|name| !own.contains(name)) {
            differences.push(format!("`{name}` is no parameter of this model"));
        }
        if !differences.is_empty() {
            return Err(ParameterMismatch(differences));
        }
        let mut path = Path::default();
        Ok(self.map(&mut Loader {
            path: &mut path,
            given: &mut given,
        }))
    }
}

/// The names of the modules that a traversal stands in.
#[derive(Default)]
struct Path(Vec<String>);

/// Modules that group others and have no name of their own: fields and variants of enums.
const UNNAMED: [&str; 4] = ["embedding", "projections", "Separate", "Shared"];

impl Path {
    fn name(&self) -> String {
        let named = self.0.iter().map(String::as_str);
        let named = named.filter(|step| !UNNAMED.contains(step));
        named.collect::<Vec<_>>().join(".")
    }
}

#[derive(Default)]
struct Collector {
    path: Path,
    parameters: Vec<Parameter>,
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.0.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.0.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        self.parameters.push(Parameter {
            name: self.path.name(),
            shape: tensor.dims().to_vec(),
            values: tensor.into_data().iter::<f32>().collect(),
        });
    }
}

struct Loader<'a> {
    path: &'a mut Path,
    given: &'a mut BTreeMap<String, Parameter>,
}

impl ModuleMapper for Loader<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.0.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.0.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(parameter) = self.given.remove(&self.path.name()) else {
            return param;
        };
        param.map(|old| {
            let data = TensorData::new(parameter.values, parameter.shape);
            let new = Tensor::from_data(data, &old.device());
            if old.is_require_grad() {
                new.require_grad()
            } else {
                new
            }
        })
    }
}
