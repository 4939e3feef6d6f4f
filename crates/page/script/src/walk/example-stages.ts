// The stages of a worked example, as the stepper shows them.

import { fixed, joined, percent, range } from "../model/numbers";
import type { Grid, Stage } from "./stages";
import type { ExampleCase, ExampleMatrix, PrintedRow } from "../model/types";

/** The steps, and the stages that each shows. */
const STEPS: [string, string[]][] = [
  ["Inputs", ["x", "memory"]],
  ["Queries, keys, values", ["query", "key", "value"]],
  ["Products", ["scores"]],
  ["Scores", ["scaled"]],
  ["Mask", ["masked"]],
  ["Softmax", ["exponentials", "exponentials_sum", "weights", "weights_sum"]],
  ["Weighted sum", ["contributions", "output"]],
];
const PROJECTIONS = ["w_query", "w_key", "w_value"];

const number = (value: number | null | undefined) =>
  value === null || value === undefined ? "−∞" : fixed(value, 3).replace("-", "−");
const quoted = (token: string) => `“${token}”`;

export const numbersOf = (example: ExampleCase, name: string) => example.stages.find(({ stage }) => stage === name);

/** @param row of the queries that are shown */
export function caseStages(example: ExampleCase, row: number): Stage[] {
  const queries = numbersOf(example, "weights")?.rows ?? [];
  const query = queries[row];
  return STEPS.flatMap(([title, names]) => {
    const shown = names.flatMap((name) => numbersOf(example, name) ?? []);
    if (!shown.length) return [];
    const grids = shown.map((numbers) => gridOf(numbers, example.published, query));
    const weights = names.includes("query")
      ? PROJECTIONS.flatMap((name) => numbersOf(example, name) ?? []).map((numbers) =>
          gridOf(numbers, example.published),
        )
      : undefined;
    return [
      {
        title,
        formula: shown
          .map(({ stage, how }) => `${stage.replaceAll("_", " ")}: ${how.replaceAll("_", " ")}`)
          .join(";  "),
        grids,
        weights,
        sentence: joined([sentenceOf(example, shown, row), ...notesOf(example.published, shown)]),
      },
    ];
  });
}

function gridOf({ stage, rows, columns, values }: ExampleMatrix, published: PrintedRow[], query?: string): Grid {
  const marks = values.map((cells) => cells.map(() => ""));
  for (const entry of published) {
    if (entry.stage === stage)
      entry.columns.forEach((column, at) => {
        marks[entry.row][column] +=
          `${marks[entry.row][column] && " "}${entry.differs[at] ? "≠" : "="}${entry.values[at] === null ? "−∞" : entry.values[at].toFixed(entry.decimals).replace("-", "−")}`;
      });
  }
  return {
    name: stage.replaceAll("_", " "),
    rows,
    columns,
    values,
    chosen: query === undefined || stage === "contributions" ? undefined : rows.indexOf(query),
    marks: marks.flat().some(Boolean) ? marks : undefined,
  };
}

/** Why numbers of the document differ. */
function notesOf(published: PrintedRow[], shown: ExampleMatrix[]) {
  return published
    .filter(({ stage, note }) => note && shown.some((numbers) => numbers.stage === stage))
    .map(({ stage, row, note }) =>
      `${quoted(shown.find((numbers) => numbers.stage === stage)?.rows[row] ?? "")}: ${note}.`.replace("..", "."),
    );
}

/** One sentence with numbers of the step. */
function sentenceOf(example: ExampleCase, shown: ExampleMatrix[], row: number) {
  const { stage, columns } = shown[0];
  const weights = numbersOf(example, "weights");
  const token = weights?.rows[row] ?? "";
  const query = quoted(token);
  const own = (numbers: ExampleMatrix | undefined) => numbers?.values[Math.max(numbers.rows.indexOf(token), 0)] ?? [];
  const first = (...names: string[]) => names.map((name) => numbersOf(example, name)).find(Boolean);
  const values = own(shown[0]);
  const key = mostOf(values);
  if (stage === "scores")
    return `The query of ${query} and the key of ${quoted(columns[key])} have the product ${number(values[key])}; none of its row is larger.`;
  if (stage === "scaled")
    return `The score of ${query} for ${quoted(columns[key])} is ${number(own(first("scores"))[key])} × ${number(example.factor)} = ${number(values[key])}; none of its row is larger.`;
  if (stage === "masked") {
    const blocked = values.flatMap((value, at) => (value === null ? [quoted(columns[at])] : []));
    return blocked.length
      ? `${query} may not look at ${blocked.join(", ")}: a score of −∞ becomes a weight of 0.`
      : `${query} may look at each token.`;
  }
  if (weights && shown.includes(weights)) {
    const shares = own(weights);
    const most = mostOf(shares);
    const scores = own(first("masked", "scaled", "scores"));
    const total = scores.reduce(
      (sum, value) => Number(sum) + Math.exp(Number(value ?? -Infinity) - Number(scores[most])),
      0,
    );
    const how = scores.length
      ? `exp(score − the largest score) is 1 for ${quoted(weights.columns[most])}; divided by the sum of its row, ${number(total)}, it is ${number(shares[most])}: `
      : "";
    return `${how}${query} gives ${how ? "it" : quoted(weights.columns[most])} ${percent(shares[most] ?? 0)} of its attention.`;
  }
  const value = first("value", "memory", "x");
  const output = shown.find((numbers) => numbers.stage === "output");
  if (!output || !weights || !value)
    return `${shown.map((numbers) => `${numbers.stage.replaceAll("_", " ")} begins with ${number(numbers.values[0][0])}`).join(", ")}.`;
  const terms = range(Math.min(2, value.rows.length)).map((at) => {
    const factor = value.values[at][0];
    return `${number(own(weights)[at])} × ${Number(factor) < 0 ? `(${number(factor)})` : number(factor)}`;
  });
  return `The first number of the output of ${query} is ${terms.join(" + ")}${value.rows.length > 2 ? " + …" : ""} = ${number(own(output)[0])}.`;
}

/** The place of the largest value. */
const mostOf = (values: (number | null)[]) =>
  Math.max(values.indexOf(Math.max(...values.map((value) => value ?? -Infinity))), 0);
