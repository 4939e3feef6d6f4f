declare module "worker:*" {
  const code: string;
  export default code;
}
declare module "glossary:*" {
  const sentences: Record<string, string>;
  export default sentences;
}
declare module "*.css";
