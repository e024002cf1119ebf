import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { endOnSignals } from '../peers.js';
import { demo } from './demo.js';
import { exitCodeOf, figuresOf } from './figures.js';
import { picture } from './picture.js';
import { stallLine, table } from './table.js';
import { Watch } from './watch.js';

const USAGE = `npm run demo -- [options]

Starts a MongoDB replica set of three members and five services, one for each implementation that the README compares. While
clients create plants, the primary is killed, frozen and stepped down. Then each response is compared with what is stored.
Takes one to two minutes. Ends with 1 if a response of the last two implementations, which the service offers, was wrong.

  --json            prints only the figures, as JSON
  --picture <file>  draws what responses reported in each second, as SVG
  --seconds <n>     how long the primary is killed, and how long it is frozen: 1 to 60 (18)
`;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    picture: { type: 'string' },
    seconds: { type: 'string', default: '18' },
    help: { type: 'boolean', default: false },
  },
});
endOnSignals();
if (values.help) process.stdout.write(USAGE);
else await run();

async function run(): Promise<void> {
  const print = (text: string) => process.stdout.write(`${text}\n`);
  const result = await demo(secondsOf(values.seconds), new Watch(values.json ? () => {} : print));
  const figures = figuresOf(result);
  const { longestStallMs } = result;
  if (values.json) print(JSON.stringify({ figures, longestStallMs }, undefined, 2));
  else print(`\n${table(figures)}\n\n${stallLine(longestStallMs)}`);
  if (values.picture !== undefined) writeFileSync(values.picture, picture(result));
  process.exitCode = exitCodeOf(figures);
}

function secondsOf(value: string): number {
  if (/^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 60) return Number(value);
  throw new Error(`--seconds: expected a whole number from 1 to 60, got "${value}"`);
}
