import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { MongoClient } from 'mongodb';

type TlsFiles = Pick<
  MongoClient['options'],
  'tlsCAFile' | 'tlsCertificateKeyFile' | 'tlsCRLFile' | 'passphrase'
>;

/** The options that name a file for TLS, what it must have, and how that is checked. */
const FILES = [
  ['tlsCAFile', 'a certificate', (pem: Buffer) => new X509Certificate(pem)],
  [
    'tlsCertificateKeyFile',
    'a certificate and its private key, which needs tlsCertificateKeyFilePassword when it is encrypted,',
    (pem: Buffer, passphrase: string | undefined) =>
      createSecureContext({ cert: pem, key: pem, ...(passphrase && { passphrase }) }),
  ],
  ['tlsCRLFile', 'a revocation list', (pem: Buffer) => createSecureContext({ crl: pem })],
] as const;

/**
 * Returns why a file for TLS cannot be used; `undefined` when all can be used. The driver reads these files only
 * when it connects: it would report an unreadable one as an outage, and ignores a `tlsCAFile` without a certificate.
 */
export function tlsFileProblem(options: TlsFiles): string | undefined {
  for (const [option, content, check] of FILES) {
    const path = options[option];
    try {
      if (path !== undefined) check(readFileSync(path), options.passphrase);
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? error.code : 'invalid';
      return `the file that ${option} names must have ${content} in PEM (${reason})`;
    }
  }
  return undefined;
}
