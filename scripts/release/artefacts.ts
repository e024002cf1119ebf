import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Manifest, read, root, run, type Workspace, workspaces, write } from './project.js';

/** The folder of the files of a release. */
export const FOLDER = 'release';

/**
 * Builds the packages from nothing, and makes the files of a release: the archives of the packages, what the service
 * consists of, the notes, and checksums. The same commit makes the same files.
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
  write(`${FOLDER}/sbom.cdx.json`, billOfMaterials(published));
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

/**
 * Returns what the service consists of, in CycloneDX. `npm sbom --omit=dev` leaves out what only some package needs for
 * development, and keeps packages that are not published: so it gets manifests without either.
 */
function billOfMaterials(published: readonly Workspace[]): string {
  const place = mkdtempSync(join(tmpdir(), 'plant-store-sbom-'));
  // npm names the workspace after its folder.
  const copy = join(place, 'plant-store');
  const npm = (...args: string[]) => run('npm', '--prefix', copy, ...args);
  try {
    const manifest: Manifest = JSON.parse(read('package.json'));
    writeManifest(copy, { ...manifest, workspaces: published.map(({ folder }) => folder) });
    for (const file of ['package-lock.json', '.npmrc']) cpSync(join(root, file), join(copy, file));
    for (const { folder, manifest } of published) writeManifest(join(copy, folder), manifest);
    npm('install', '--package-lock-only', '--offline', '--ignore-scripts');
    const sbom = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
    const { serialNumber, ...bill } = JSON.parse(npm(...sbom, '--workspace', 'plant-store'));
    // The time of the commit, and no random number, so that the same commit makes the same file.
    bill.metadata.timestamp = new Date(run('git', 'show', '-s', '--format=%cI')).toISOString();
    return `${JSON.stringify(bill, null, 2)}\n`;
  } finally {
    rmSync(place, { recursive: true });
  }
}

function writeManifest(folder: string, manifest: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, devDependencies: {} }));
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
