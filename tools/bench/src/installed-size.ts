import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './subject.js';

/** The size of the production dependencies. */
export interface InstalledSize {
  /** The number of packages, without those of this project. */
  readonly packages: number;
  readonly mebibytes: number;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly link?: boolean }>>;
}

/** Installs the production dependencies into a new folder and measures them. */
export async function installedSize(): Promise<InstalledSize> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-size-'));
  try {
    for (const file of manifests()) cpSync(join(root, file), join(folder, file));
    const install = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts'];
    execFileSync('npm', install, { cwd: folder, stdio: 'ignore' });
    const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
    const installed = Object.entries((JSON.parse(lock) as Lock).packages);
    const others = installed.filter(([path, { link }]) => path.startsWith('node_modules') && !link);
    const size = execFileSync('du', ['-sk', join(folder, 'node_modules')], { encoding: 'utf8' });
    return { packages: others.length, mebibytes: Math.round(Number.parseInt(size, 10) / 1024) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function manifests(): string[] {
  const listed = ['ls-files', 'package.json', 'package-lock.json', '.npmrc', '*/package.json'];
  return execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).trim().split('\n');
}
