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
  withRepository(published, repository, () => pack(published));
  write(`${FOLDER}/sbom.cdx.json`, billOfMaterials(published));
  write(`${FOLDER}/notes.md`, `${notes}\n`);
  write(`${FOLDER}/SHA256SUMS`, checksums());
}

/** Makes an archive of each package. npm gives all files in it the same time. */
function pack(published: readonly Workspace[]): void {
  const named = published.flatMap(({ folder }) => ['--workspace', folder]);
  run('npm', 'pack', '--ignore-scripts', '--pack-destination', FOLDER, ...named);
}

/** Writes the repository into the manifests while they are packed: only the one that publishes them knows it. */
function withRepository(
  published: readonly Workspace[],
  url: string | undefined,
  work: () => void,
): void {
  if (url === undefined) return work();
  const files = published.map(({ folder }) => ({ folder, file: `${folder}/package.json` }));
  const before = files.map(({ file }) => read(file));
  try {
    files.forEach(({ folder, file }, at) => {
      const repository = { type: 'git', url, directory: folder };
      write(file, JSON.stringify({ ...JSON.parse(before[at] ?? ''), repository }, null, 2));
    });
    work();
  } finally {
    files.forEach(({ file }, at) => {
      write(file, before[at] ?? '');
    });
  }
}

/**
 * Returns what the service consists of, in CycloneDX. `npm sbom --omit=dev` leaves out what only some package needs for
 * development, and keeps packages that are not published: so it gets manifests without either.
 */
function billOfMaterials(published: readonly Workspace[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'plant-store-sbom-'));
  const npm = (...args: string[]) => run('npm', '--prefix', copy, ...args);
  try {
    for (const file of ['package-lock.json', '.npmrc']) cpSync(join(root, file), join(copy, file));
    const manifest: Manifest = JSON.parse(read('package.json'));
    writeManifest(copy, { ...manifest, workspaces: published.map(({ folder }) => folder) });
    for (const { folder, manifest } of published) writeManifest(join(copy, folder), manifest);
    npm('install', '--package-lock-only', '--offline', '--ignore-scripts');
    const sbom = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
    const { serialNumber, ...bill } = JSON.parse(npm(...sbom, '--workspace', 'plant-store'));
    // The time of the commit, and no random number, so that the same commit makes the same file.
    bill.metadata.timestamp = new Date(run('git', 'show', '-s', '--format=%cI')).toISOString();
    return `${JSON.stringify(bill, null, 2)}\n`;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function writeManifest(folder: string, manifest: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, devDependencies: {} }));
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
