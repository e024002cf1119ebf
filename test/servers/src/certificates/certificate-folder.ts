import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateAuthority, type CertificateOptions } from './certificate-authority.js';

/** A temporary folder with certificates of one authority. It is removed when this process ends. */
export class CertificateFolder {
  readonly #path = mkdtempSync(join(tmpdir(), 'plant-store-certificates-'));
  readonly #authority: CertificateAuthority;
  /** The path of the authority's own certificate. */
  readonly authority: string;

  private constructor(authority: CertificateAuthority) {
    process.once('exit', () => rmSync(this.#path, { recursive: true, force: true }));
    this.#authority = authority;
    this.authority = this.write('authority.pem', authority.certificate);
  }

  static async create(): Promise<CertificateFolder> {
    return new CertificateFolder(await CertificateAuthority.create('Gardens'));
  }

  /** Writes a file that only its owner can read. Returns its path. */
  write(name: string, text: string): string {
    const path = join(this.#path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Writes a new certificate, followed by its private key. Resolves with the path. */
  async issue(name: string, options: CertificateOptions): Promise<string> {
    const { certificate, privateKey } = await this.#authority.issue(options);
    return this.write(name, `${certificate}${privateKey}`);
  }
}
