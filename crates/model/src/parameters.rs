//! Reads the parameters of a model by name.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use headlight_architecture::Parameter;

use crate::TransformerClassifier;

impl TransformerClassifier {
    /// All parameters, in the model's order.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut collector = Collector::default();
        self.visit(&mut collector);
        collector.parameters
    }
}

/// Fields and enum variants that only group modules and are not part of parameter names.
const UNNAMED: [&str; 6] = [
    "embedding",
    "projections",
    "Separate",
    "Shared",
    "pre",
    "post",
];

#[derive(Default)]
struct Collector {
    /// The path of modules to the current one.
    path: Vec<String>,
    parameters: Vec<Parameter>,
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let named = self.path.iter().map(String::as_str);
        let named = named.filter(|step| !UNNAMED.contains(step));
        let tensor = param.val();
        self.parameters.push(Parameter {
            name: named.collect::<Vec<_>>().join("."),
            shape: tensor.dims().to_vec(),
            values: tensor.into_data().iter::<f32>().collect(),
        });
    }
}
