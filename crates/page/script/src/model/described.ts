// Written by `UPDATE_GOLDEN=1 cargo test -p headlight-experiment`: what the core describes.

import type { RuleChoice, Config } from "./types";

export const RULES: Record<string, RuleChoice> = {
  "token-at-position": {"title":"token at position","question":"is token {token} at position {position}?","parameters":[["token","token","token",42],["position","position","position",3]],"n_classes":2,"needs":[]},
  "token-anywhere": {"title":"token anywhere","question":"is token {token} anywhere?","parameters":[["token","token","token",42]],"n_classes":2,"needs":[["data.generator","chacha"],["data.positive_rate",0.5]]},
  "token-before-token": {"title":"token before token","question":"does token {first} come before token {second}?","parameters":[["first","token","token",7],["second","before token","token",42]],"n_classes":2,"needs":[["data.generator","chacha"],["data.positive_rate",0.5],["model.d_model",16],["training.epochs",10],["training.learning_rate",0.003]]},
  "equal-positions": {"title":"equal positions","question":"do positions {first} and {second} hold the same token?","parameters":[["first","position","position",2],["second","and position","position",5]],"n_classes":2,"needs":[["data.generator","chacha"],["data.positive_rate",0.5],["data.vocab_size",11],["model.d_model",16],["model.n_heads",2],["model.n_layers",2],["training.epochs",10],["training.learning_rate",0.003]]},
  "count": {"title":"count a token","question":"how often does token {token} occur?","parameters":[["token","token","token",7]],"n_classes":3,"needs":[["data.generator","chacha"],["data.vocab_size",11],["training.epochs",6]]},
};

export const MARKERS: Record<string, string> = {
  "sentence": "*",
};

/** The metrics in tables: each with its key, its name and its decimals. */
export const METRICS: [key: string, name: string, decimals: number][] = [["f1","F1",3],["accuracy","accuracy",4],["loss","loss",4]];

/** The config of the reader's texts, apart from what the texts give: that of `headlight train FILE`. */
export const TEXTS: Config = {"data":{"cls":"first","seed":0},"dump":{"every_epochs":1,"every_steps":0,"formats":["npz"],"negatives":8,"positives":8,"samples":[0]},"model":{"attention":{"mask":"none","projections":"separate","scale":true,"temperature":1.0},"d_ff":0,"d_model":16,"layer_norm_eps":1e-6,"n_heads":2,"n_layers":1,"positions":true},"seed":0,"training":{"batch_size":16,"beta_1":0.9,"beta_2":0.999,"epochs":50,"epsilon":1e-7,"evaluate_every":0,"keep_best":"held_out_loss","learning_rate":0.003,"patience":5,"token_second_moment":"per-occurrence"}};

/** Names that columns of texts and labels usually have. */
export const COLUMNS = ["label","labels","class","target","category","sentiment","mood","y","text","texts","sentence","review","comment","message","tweet"];

/** A row of weights that diverges from uniform attention by less than this, in nats, is close to it. */
export const UNIFORM_BELOW = 0.02;
