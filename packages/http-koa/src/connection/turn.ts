type Step = () => void;

/** So many steps wait at most: the first of them would otherwise wait for a long turn to end. */
const MAX_WAITING = 64;

let steps: Step[] = [];
let hasRunEarly = false;

/**
 * Runs a step behind the requests that the operating system has ready now, together with the other
 * steps that they leave.
 *
 * Earns its place: requests that are first all parsed and then carried out together take little more
 * than a third of the CPU time that they take one by one (measured interleaved, in memory, 50
 * connections). Their promises settle in step, so the same code runs many times in a row, from the
 * first check to the answer's way through the network stack, and finds itself in the processor's
 * caches.
 */
export function atEndOfTurn(step: Step): void {
  const waiting = steps.push(step);
  if (waiting === 1 && !hasRunEarly) setImmediate(endTurn);
  if (waiting < MAX_WAITING || hasRunEarly) return;
  // Once: what pipelines leaves its next request behind each answer, and the turn would never end.
  hasRunEarly = true;
  runSteps();
}

function endTurn(): void {
  hasRunEarly = false;
  runSteps();
}

function runSteps(): void {
  const all = steps;
  steps = [];
  for (const run of all) run();
}
