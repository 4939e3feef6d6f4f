// What becomes of a training.

import { settingsText } from "../model/config";
import { experiment } from "../state/state";

/** Steps of a training; they are not announced. */
export const Progress = ({ steps }: { steps: [number, number] | undefined }) =>
  steps && steps[1] > 0 ? (
    <span aria-hidden="true">
      {" "}
      <progress value={steps[0]} max={steps[1]} /> step {steps[0]} of {steps[1]}{" "}
    </span>
  ) : null;

type StartStopProps = { start?: () => void; stop?: () => void; title?: string };

/** What a reader can do about a training. */
export const StartStop = ({ start, stop, title = "Train it" }: StartStopProps) => (
  <>
    {start && (
      <button type="button" onClick={start}>
        {title}
      </button>
    )}
    {stop && (
      <button type="button" onClick={stop}>
        Stop
      </button>
    )}
  </>
);

/** What becomes of the experiment that the settings describe, until it is trained. */
export function TrainingState() {
  const now = experiment.value;
  if (!now || now.state === "trained") return null;
  const name = settingsText(JSON.parse(now.key));
  const [badge, text] = {
    training: ["Training", `${name}. Meanwhile the page shows the model before it.`],
    asks: ["Long", `${name}: this training may take long.`],
    stopped: ["Stopped", `${name}: you stopped this training.`],
    failed: ["Failed", `${name}: the page cannot train this (${now.why}).`],
  }[now.state];
  return (
    <span class={now.state === "failed" ? "failed" : undefined}>
      <b class="badge">{badge}</b> {text} <Progress steps={[now.step, now.steps]} />
      <StartStop start={now.start} stop={now.stop} />
    </span>
  );
}
