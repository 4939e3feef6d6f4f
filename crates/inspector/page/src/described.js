// Written by `UPDATE_GOLDEN=1 cargo test -p headlight-experiment --test page`: what the core describes.

/** @type {Record<string, import("./types").Choice>} */
export const RULES = {
  "token-at-position": {"title":"token at position","question":"is token {token} at position {position}?","parameters":[["token","token","token",42],["position","position","position",3]],"n_classes":2,"needs":[]},
  "token-anywhere": {"title":"token anywhere","question":"is token {token} anywhere?","parameters":[["token","token","token",42]],"n_classes":2,"needs":[["data.generator","chacha"],["data.positive_rate",0.5]]},
  "token-before-token": {"title":"token before token","question":"does token {first} come before token {second}?","parameters":[["first","token","token",7],["second","before token","token",42]],"n_classes":2,"needs":[["data.generator","chacha"],["data.positive_rate",0.5],["model.d_model",16],["training.epochs",10],["training.learning_rate",0.003]]},
  "equal-positions": {"title":"equal positions","question":"do positions {first} and {second} hold the same token?","parameters":[["first","position","position",2],["second","and position","position",5]],"n_classes":2,"needs":[["data.generator","chacha"],["data.positive_rate",0.5],["data.vocab_size",11],["model.d_model",16],["model.n_heads",2],["model.n_layers",2],["training.epochs",10],["training.learning_rate",0.003]]},
  "count": {"title":"count a token","question":"how often does token {token} occur?","parameters":[["token","token","token",7]],"n_classes":3,"needs":[["data.generator","chacha"],["data.vocab_size",11],["training.epochs",6]]},
};

/** @type {Record<string, string>} */
export const MARKERS = {
  "sentence": "*",
};

/** The metrics in tables: each with its key, its name and its decimals. @type {[key: string, name: string, decimals: number][]} */
export const METRICS = [["f1","F1",3],["accuracy","accuracy",4],["loss","loss",4]];

/** A row of weights that diverges from uniform attention by less than this, in nats, is close to it. */
export const UNIFORM_BELOW = 0.02;
