// Names of types in all files.

type Run = import("./run.js").Run;
type Sample = import("./types").Sample;
type Facts = import("./types").Facts;
type Source = import("./types").Source;
type Config = import("./types").Config;
type Changes = import("./types").Changes;
type View = import("./types").View;
type Show = import("./types").Show;
type Panel = import("./parts/matrices.js").Panel;
type Scale = import("./colour.js").Scale;

declare module "worker:*" {
  const code: string;
  export default code;
}
