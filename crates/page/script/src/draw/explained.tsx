// Texts whose terms say what they are.

import sentences from "glossary:[CLS],Embedding,Query,Key,Value,Score,Softmax,Uniform,Head,Layer,Mask,Residual stream,Logit,Margin,Loss,F1";
import { joined } from "../model/numbers";

const names = Object.keys(sentences).map((term) => term.replace(/\W/g, "\\$&"));
const TERMS = new RegExp(`(?<!\\w)(${joined(names, "|")})(?=s?(?!\\w))`, "i");

/** A text in which each term of the book's glossary, where it stands first, says on hover what it is. */
export function Explained({ text }: { text: string }) {
  const parts = text.split(TERMS);
  return (
    <>
      {parts.map((part, at) => {
        const term = part.toLowerCase();
        const isFirst = at % 2 === 1 && parts.findIndex((other) => other.toLowerCase() === term) === at;
        return isFirst ? <abbr title={sentences[term]}>{part}</abbr> : part;
      })}
    </>
  );
}
