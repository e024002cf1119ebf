import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { read, root, run, type Workspace, workspaces, write } from './project.js';

/** The folder of the files of a release. */
export const FOLDER = 'release';

/**
 * Builds the packages from nothing, and makes the files of a release: the archives of the packages, the notes, and
 * checksums. The same commit makes the same files.
 *
 * @param repository The URL of the repository, which npm compares with the provenance of a package.
 */
export function makeArtefacts(notes: string, repository: string | undefined): void {
  const published = workspaces().filter(({ manifest }) => !manifest.private);
  rmSync(join(root, FOLDER), { recursive: true, force: true });
  mkdirSync(join(root, FOLDER));
  for (const { folder } of published)
    rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  run('npm', 'run', 'build');
  if (repository === undefined) pack(published);
  else withRepository(published, repository, () => pack(published));
  write(
    `${FOLDER}/notes.md`,
    `${repository === undefined ? notes : withLinks(notes, repository)}\n`,
  );
  write(`${FOLDER}/SHA256SUMS`, checksums());
}

/** Makes an archive of each package. npm gives all files in it the same time. */
function pack(published: readonly Workspace[]): void {
  const named = published.flatMap(({ folder }) => ['--workspace', folder]);
  run('npm', 'pack', '--silent', '--pack-destination', FOLDER, ...named);
}

/** Writes the repository into the manifests while they are packed: only the one that publishes them knows it. */
function withRepository(published: readonly Workspace[], url: string, work: () => void): void {
  const manifests = published.map(({ folder }) => {
    const file = `${folder}/package.json`;
    return { folder, file, text: read(file) };
  });
  try {
    for (const { folder, file, text } of manifests) {
      const repository = { type: 'git', url, directory: folder };
      write(file, JSON.stringify({ ...JSON.parse(text), repository }, null, 2));
    }
    work();
  } finally {
    for (const { file, text } of manifests) write(file, text);
  }
}

/** Links of the changelog lead to the files of this commit, even where the notes are shown without them. */
function withLinks(notes: string, repository: string): string {
  const files = `${repository.replace(/^git\+|\.git$/g, '')}/blob/${run('git', 'rev-parse', 'HEAD')}/`;
  return notes.replace(/\]\((?!\w+:)/g, `](${files}`);
}

/** Returns lines that `sha256sum --check` reads. */
function checksums(): string {
  const names = readdirSync(join(root, FOLDER)).sort();
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(root, FOLDER, name)))
      .digest('hex');
  return names.map((name) => `${digest(name)}  ${name}\n`).join('');
}
