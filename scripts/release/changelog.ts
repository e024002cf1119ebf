import { read, write } from './project.js';

const FILE = 'CHANGELOG.md';

/** The title of the changes that no release has. */
export const UNRELEASED = 'Unreleased';

/**
 * Returns what the changelog says about a version, without its heading; empty when there is nothing.
 *
 * @param title A version, or {@link UNRELEASED}. A date may follow it in the changelog.
 */
export function changesOf(title: string): string {
  const sections = read(FILE).split(/^## /m);
  const section = sections.find((it) =>
    [title, `${title} `].some((start) => it.split('\n')[0]?.startsWith(start)),
  );
  return section?.split('\n').slice(1).join('\n').trim() ?? '';
}

/** Gives the changes that no release has to a version. */
export function release(version: string): void {
  const today = new Date().toISOString().slice(0, 10);
  const heading = `## ${UNRELEASED}\n`;
  write(FILE, read(FILE).replace(heading, `${heading}\n## ${version} - ${today}\n`));
}
