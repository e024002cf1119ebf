import { createOnce } from './create-once.js';
import { inMemory, start } from './subject.js';

const TIMES = 10;

/** Measures the times from the start of the process to its first response, in milliseconds, sorted. */
export async function startUp(): Promise<number[]> {
  const [service] = inMemory;
  if (service === undefined) throw new Error('there is no service to start');
  const taken: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const startedAt = performance.now();
    const { url, token, stop } = await start(service);
    await createOnce(url, token);
    taken.push(performance.now() - startedAt);
    await stop();
  }
  return taken.sort((a, b) => a - b);
}
