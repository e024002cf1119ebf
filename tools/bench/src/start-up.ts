import { runLoadOnce } from './first-response.js';
import { inMemory, start } from './subject.js';

const TIMES = 10;

/** From the start of the process to the response to its first create, in milliseconds, sorted. */
export async function startUp(): Promise<number[]> {
  const [service] = inMemory;
  if (service === undefined) throw new Error('there is no service to start');
  const taken: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const startedAt = performance.now();
    const { url, token, stop } = await start(service);
    await runLoadOnce(url, token);
    taken.push(performance.now() - startedAt);
    await stop();
  }
  return taken.sort((a, b) => a - b);
}
