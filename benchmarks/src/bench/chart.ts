export interface Group {
  readonly title: string;
  readonly bars: readonly { readonly label: string; readonly value: number }[];
}

/** So narrow that the text is readable on a telephone. */
const WIDTH = 560;
const LABELS = 185;
const MAX_BAR = WIDTH - LABELS - 70;
const ROW = 28;
const TITLE = 44;
const STYLE =
  'text{font:18px system-ui,sans-serif;fill:#24292f}.t{font-weight:600}rect{fill:#9aa4ae}.own{fill:#2da44e}' +
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}}';

/** Draws the groups below one another with one scale, as an SVG that is readable on light and dark backgrounds. */
export function chart(groups: readonly Group[]): string {
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  let y = 0;
  const parts = groups.map((group) => {
    const part = drawn(group, y, most);
    y += TITLE + group.bars.length * ROW;
    return part;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 12}" role="img">`,
    `<title>${groups.map(({ title }) => title).join('; ')}</title>`,
    `<style>${STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function drawn({ title, bars }: Group, top: number, most: number): string {
  const rows = bars.map(({ label, value }, row) => {
    const y = top + TITLE + row * ROW;
    const width = ((value / most) * MAX_BAR).toFixed(1);
    const figure = Math.round(value).toLocaleString('en');
    const kind = row === 0 ? ' class="own"' : '';
    return [
      `<text x="${LABELS - 10}" y="${y + 16}" text-anchor="end">${label}</text>`,
      `<rect${kind} x="${LABELS}" y="${y}" width="${width}" height="21" rx="2"/>`,
      `<text x="${LABELS + Number(width) + 8}" y="${y + 16}">${figure}</text>`,
    ].join('');
  });
  return [`<text class="t" x="0" y="${top + 30}">${title}</text>`, ...rows].join('\n');
}
