import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** The files that a connection string names for TLS. */
export interface TlsFiles {
  readonly tlsCAFile?: string;
  readonly tlsCertificateKeyFile?: string;
  readonly tlsCertificateKeyFilePassword?: string;
  readonly tlsCRLFile?: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/**
 * Returns why a file for TLS cannot be used; `undefined` when all can be used. The driver reads these files only
 * when it connects: it would report an unreadable one as an outage, and ignores a `tlsCAFile` without a certificate.
 */
export function tlsFileProblem(files: TlsFiles): string | undefined {
  for (const option of ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const) {
    const path = files[option];
    const problem = path === undefined ? undefined : problemOf(option, path, files);
    if (problem !== undefined) return `the file that ${option} names ${problem}`;
  }
  return undefined;
}

function problemOf(option: keyof TlsFiles, path: string, files: TlsFiles): string | undefined {
  const text = textOf(path);
  if (text === undefined) return 'cannot be read';
  if (option === 'tlsCAFile') return certificateProblem(text);
  return option === 'tlsCertificateKeyFile'
    ? (certificateProblem(text) ?? keyProblem(text, files.tlsCertificateKeyFilePassword))
    : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function certificateProblem(text: string): string | undefined {
  const [certificate] = CERTIFICATE.exec(text) ?? [];
  if (certificate === undefined) return 'has no certificate in PEM';
  try {
    new X509Certificate(certificate);
    return undefined;
  } catch {
    return 'has a certificate that cannot be read';
  }
}

function keyProblem(text: string, passphrase: string | undefined): string | undefined {
  if (!PRIVATE_KEY.test(text)) return 'has no private key in PEM';
  try {
    createSecureContext({ cert: text, key: text, ...(passphrase && { passphrase }) });
    return undefined;
  } catch (error) {
    const mismatch = error instanceof Error && /mismatch/i.test(error.message);
    return mismatch
      ? 'has a private key that does not belong to its certificate'
      : 'has a private key that cannot be read: an encrypted one needs tlsCertificateKeyFilePassword';
  }
}
