import type { Create } from './clients.js';
import type { Happened, ImplementationResult, Run } from './demo.js';
import { wrongOf } from './figures.js';
import { comparedOutcome, tally, WRONG } from './outcomes.js';

/** So narrow that the text is readable on a telephone. */
const WIDTH = 560;
const TOP = 38;
const BOTTOM = 28;
const ROW = 66;
/** The height of the maximum number of creates in a second. */
const PLOT = 34;
const LEAST_MARK = 8;
const SECOND_MS = 1_000;
const STYLE =
  'text{font:18px system-ui,sans-serif;fill:#24292f}.t{font-weight:600}.e{text-anchor:end}' +
  '.stored{fill:#9aa4ae}.own .stored{fill:#2da44e}.unknown{fill:#9a6700}.wrong{fill:#cf222e}.fault{fill:#8c959f;opacity:.18}' +
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.unknown{fill:#d29922}.wrong{fill:#ff7b72}}';

const LEGEND =
  'per second: stored (green: our stores), <tspan class="unknown">unknown</tspan>, <tspan class="wrong">wrong</tspan>';

type Kind = 'stored' | 'unknown' | 'wrong';

/** Draws what the responses of each subject reported in each second, all with one scale. */
export function picture({ began, happened, results }: Run): string {
  const ends = results.flatMap(({ creates }) => creates.map(({ at }) => at));
  const seconds = Math.ceil((ends.reduce((last, at) => Math.max(last, at), 0) - began) / SECOND_MS);
  const xOf = (at: number) => ((at - began) / SECOND_MS / seconds) * WIDTH;
  const series = results.map((result) => seriesOf(result, began, seconds));
  const most = Math.max(...series.flat().map(({ stored }) => stored));
  const height = TOP + results.length * ROW + BOTTOM;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    '<title>What responses reported in each second while the primary failed</title>',
    `<style>${STYLE}</style>`,
    ...happened.map((fault) => band(fault, xOf, height - BOTTOM)),
    ...results.map((result, row) => drawn(result, series[row] ?? [], row, most)),
    `<text x="0" y="${height - 6}">${LEGEND}</text>`,
    `<text class="e" x="${WIDTH}" y="${height - 6}">${seconds} s</text>`,
    '</svg>\n',
  ].join('\n');
}

type Second = Record<Kind, number>;

function seriesOf(
  { creates, ids }: ImplementationResult,
  began: number,
  seconds: number,
): Second[] {
  const series = Array.from({ length: seconds }, () => ({ stored: 0, unknown: 0, wrong: 0 }));
  for (const create of creates) {
    const second = series[Math.floor((create.at - began) / SECOND_MS)];
    const kind = kindOf(create, ids);
    if (second !== undefined && kind !== undefined) second[kind] += 1;
  }
  return series;
}

function kindOf(create: Create, ids: ReadonlySet<number>): Kind | undefined {
  if (WRONG.includes(comparedOutcome(create, ids))) return 'wrong';
  return create.reported === 'failed' ? undefined : create.reported;
}

function band({ name, from, to }: Happened, xOf: (at: number) => number, height: number): string {
  const [x, end] = [xOf(from), xOf(to)];
  const title = end - x < 100 ? `<text class="e" x="${WIDTH}"` : `<text x="${x.toFixed(1)}"`;
  return (
    `<rect class="fault" x="${x.toFixed(1)}" y="26" width="${(end - x).toFixed(1)}" height="${height - 26}"/>` +
    `${title} y="18">${name}</text>`
  );
}

function drawn(
  result: ImplementationResult,
  series: readonly Second[],
  row: number,
  most: number,
): string {
  const base = TOP + (row + 1) * ROW - 8;
  const width = WIDTH / series.length;
  const bars = series.flatMap((second, index) =>
    (['stored', 'unknown', 'wrong'] as const)
      .filter((kind) => second[kind] > 0)
      .map((kind) => {
        const size = (second[kind] / most) * PLOT;
        const height = kind === 'stored' ? size : Math.max(LEAST_MARK, size);
        const place = `x="${(index * width).toFixed(1)}" y="${(base - height).toFixed(1)}"`;
        return `<rect class="${kind}" ${place} width="${(width - 1).toFixed(1)}" height="${height.toFixed(1)}"/>`;
      }),
  );
  const title = `y="${base - PLOT - 8}"`;
  return [
    `<g${result.isService ? ' class="own"' : ''}>`,
    `<text class="t" x="0" ${title}>${result.name}</text>`,
    `<text class="e" x="${WIDTH}" ${title}>${verdict(result)}</text>`,
    ...bars,
    '</g>',
  ].join('\n');
}

/** Returns how many responses were wrong, and how many reported an unknown outcome. */
function verdict({ creates, ids }: ImplementationResult): string {
  const outcomes = tally(creates, ids);
  const wrong = wrongOf({ outcomes });
  const unknown = outcomes.unknownStored + outcomes.unknownNotStored;
  const of = `of ${creates.length.toLocaleString('en')}`;
  return [
    wrong > 0 ? `<tspan class="wrong t">${wrong} wrong</tspan> ${of}` : `0 wrong ${of}`,
    ...(unknown > 0 ? [`<tspan class="unknown">${unknown} unknown</tspan>`] : []),
  ].join(', ');
}
