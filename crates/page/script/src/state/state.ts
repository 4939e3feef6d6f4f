// What the page shows: its runs, an experiment, and what follows from the view.

import { computed, effect, signal } from "@preact/signals";
import { runWith, interventionsFor, interventionsText, interventionTexts } from "../sources/interventions";
import { settingsText, withSettings } from "../model/config";
import { savedPage, page } from "../model/facts";
import { FIRST, readAddress, view } from "./view";
import type { Run } from "../model/run";
import type { Outcome } from "../sources/training";
import type { Config, Origin, Pin, UserData, View } from "../model/types";
import { joined } from "../model/numbers";

/** The page's own runs. */
export const runs = signal<Run[]>([]);

export const origin = signal<Origin>({ kind: "training", badge: "", text: "" });

/** The SHA-256 of the weights that the page's own training gave; empty before. */
export const trainedHash = signal("");

/** The experiment that the settings of the view describe. */
export interface Experiment {
  /** Its settings, as text. */
  key: string;
  state: "asks" | "training" | "trained" | "failed" | "stopped";
  step: number;
  steps: number;
  why?: string;
  outcome?: Outcome;
  start?: () => void;
  stop?: () => void;
}

/** The experiment that the settings of the view describe, if they describe one. */
export const experiment = signal<Experiment | null>(null);

/** The run whose curves stand behind those of an experiment. */
export const previousRun = signal<Run | null>(null);

/** The config that the page begins with, if it can train. */
export const baseConfig = (): Config | null => page.lab?.config ?? page.runs[0]?.again?.live?.config ?? null;
export const baseData = () => page.lab?.data ?? page.runs[0]?.again?.live?.data;

/** Samples that the reader gave, by the names that `data.file` has in the settings. */
export const userData: Map<string, UserData> = new Map(savedPage.own);

/** The samples of an experiment; nothing if its config generates them. */
export const dataOf = (settings: Record<string, unknown>) =>
  "data.file" in settings ? userData.get(String(settings["data.file"])) : baseData();

/** The config that settings change: of the reader's texts, their own. */
export function configBefore(settings: Record<string, unknown>) {
  const data = dataOf(settings);
  return data && "table" in data ? data.config : baseConfig();
}

/** A config with settings of the view. */
export function configOf(settings: Record<string, unknown>) {
  const before = configBefore(settings);
  const { "data.file": _, ...others } = settings;
  return before && withSettings(before, before === baseConfig() ? settings : others);
}

/** The settings of the view. On their own, they stay as they are while steps play. */
export const settings = computed(() => view.value.settings);

/** The config of what is shown: the page's own, with the settings of the view. */
export const config = computed(() => configOf(settings.value));

/** The settings of experiments, by their runs. */
const settingsOfRuns = new WeakMap<Run, Record<string, unknown>>();

/** The settings of the experiment that a run is of; none for the page's own runs. */
export const settingsOf = (run: Run | null) => (run && settingsOfRuns.get(run)) ?? {};

/** Outcomes of the page's own training and of experiments, by their settings; the one used last comes last. */
const outcomes = new Map<string, Outcome>();
const MAX_OUTCOMES = 8;

/** @param key settings, as text */
export function outcomeOf(key: string) {
  const found = outcomes.get(key);
  if (found) keepOutcome(key, found);
  return found;
}

export function keepOutcome(key: string, outcome: Outcome) {
  settingsOfRuns.set(outcome.run, JSON.parse(key));
  outcomes.delete(key);
  outcomes.set(key, outcome);
  const [oldest] = outcomes.size > MAX_OUTCOMES ? [...outcomes.keys()].filter((name) => name !== "{}") : [];
  if (!oldest) return;
  outcomes.get(oldest)?.end();
  outcomes.delete(oldest);
}

const runOf = (key: View["run"]): Run | null => runs.value[key] ?? runs.value[0] ?? null;

/** The run of a pinned view, without its changes; null for an experiment that the page has not trained. */
export function runOfPin({ run, settings }: Pin) {
  // The map of outcomes changes with the experiment.
  void experiment.value;
  return Object.keys(settings).length ? (outcomes.get(JSON.stringify(settings))?.run ?? null) : runOf(run);
}

/** The run before the reader's changes: that of the view, or the experiment. */
export const baseRun = computed<Run | null>(() => {
  const { run, settings } = view.value;
  const { outcome, state } = experiment.value ?? {};
  // An address may describe what cannot be trained.
  if (Object.keys(settings).length) return outcome?.run ?? last ?? (state === "failed" ? runOf(run) : null);
  return runOf(run);
});

let last: Run | null = null;
effect(() => {
  last = baseRun.value ?? last;
});

/** The base with the reader's changes, whichever position is asked. */
const intervenedRun = computed(() => {
  const run = baseRun.value;
  return run && runWith(run, view.value.changes);
});

/** The sample and the query of the view, made to fit the run. */
const chosen = computed(() => {
  const run = intervenedRun.value;
  const { sample, query } = view.value;
  if (!run) return null;
  // One that several positions decide shows the most.
  const positives = run.samples.filter(({ label }) => (label ?? 0) > 0);
  const firstPositive = positives.find(({ marked }) => marked.length > 1) ?? positives[0] ?? run.samples[0];
  const asking = run.asking(query);
  const key = asking.members(sample).length ? sample : (firstPositive?.key ?? "");
  return { key, query: query < asking.length(key) ? query : (run.sample(key)?.asked ?? run.readout) };
});
const query = computed(() => chosen.value?.query ?? 0);

/** The run that is shown, with the reader's changes: of a model that answers at each position, the query is the position that is asked. */
export const shownRun = computed(() => intervenedRun.value?.asking(query.value) ?? null);

// Of more positions than these each has so little that a matrix from 0 to 1 is dark: multiples of uniform attention tell them
// apart.
const MAX_IN_UNITS = 16;

/** The parts of the view, made to fit the shown run. What the reader has not chosen is the readout position and what it should look at, the strongest head of the last layer, and the best step or the last one. */
export const current = computed(() => {
  const run = shownRun.value;
  const now = view.value;
  if (!run) return null;
  const { layers, heads } = run.facts;
  const sample = chosen.value?.key ?? "";
  const positions = run.length(sample);
  const at = run.at(Number.isFinite(now.step) ? Math.min(now.step, run.last) : run.opening);
  const fit = (number: number, count: number, otherwise: () => number) =>
    number < count ? number : Number.isFinite(number) ? count - 1 : otherwise();
  return {
    run,
    sample,
    at,
    step: run.times[at],
    /** The sample itself; null for the mean over a class. */
    one: run.isGroup(sample) ? null : run.sample(sample),
    query: query.value,
    key: now.key < positions ? now.key : (run.members(sample)[0]?.marked[0] ?? 0),
    layer: fit(now.layer, layers, () => layers - 1),
    head: fit(now.head, heads, () => (baseRun.value ?? run).strongest),
    show: now.show,
    range:
      !run.isShare && now.range !== "own" ? "unit" : now.range || (run.positions > MAX_IN_UNITS ? "uniform" : "unit"),
    hasInterventions: run.source !== baseRun.value?.source,
  };
});

/** What is shown in place of the page's own run, for titles and files: the experiment and the changes. Empty if it is that run. While an experiment trains, the run before it is shown. */
export const modifications = computed(() => {
  const run = baseRun.value;
  return joined([settingsText(settingsOf(run)), interventionsText(interventionsFor(run, view.value.changes))], "; ");
});

/** Changes of the view that the shown run cannot have, as text. */
export const ignoredInterventions = computed(() => {
  const { changes } = view.value;
  const kept = interventionTexts(interventionsFor(baseRun.value, changes));
  return interventionTexts(changes)
    .filter((text) => !kept.includes(text))
    .join(", ");
});

/** Opens the address: the view of the runs at hand. */
export function openAddress() {
  view.value = { ...FIRST, ...readAddress() };
}
