import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** The options of a certificate. */
export interface CertificateOptions {
  /** A distinguished name, for example `CN=localhost`. */
  readonly subject: string;
  /** IP addresses that the certificate is valid for. None by default. */
  readonly addresses?: readonly string[];
  /** Makes a certificate whose validity ended yesterday. */
  readonly expired?: boolean;
}

/** A certificate and its private key, in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A new certificate authority, for tests. */
export class CertificateAuthority {
  readonly #certificate: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
  }

  static async create(name: string): Promise<CertificateAuthority> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned(
      {
        name: `CN=${name}`,
        keys,
        signingAlgorithm: ALGORITHM,
        ...validity(false),
        extensions: [
          new BasicConstraintsExtension(true, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
          await SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      },
      webcrypto,
    );
    return new CertificateAuthority(certificate, keys);
  }

  /** The authority's own certificate, in PEM. */
  get certificate(): string {
    return pem('CERTIFICATE', this.#certificate.rawData);
  }

  /** Issues a certificate for servers and clients. */
  async issue({
    subject,
    addresses = [],
    expired = false,
  }: CertificateOptions): Promise<IssuedCertificate> {
    const keys = await newKeys();
    const extensions: Extension[] = [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      await AuthorityKeyIdentifierExtension.create(this.#keys.publicKey),
      ...(addresses.length > 0
        ? [new SubjectAlternativeNameExtension(addresses.map((value) => ({ type: 'ip', value })))]
        : []),
    ];
    const certificate = await X509CertificateGenerator.create(
      {
        subject,
        issuer: this.#certificate.subject,
        publicKey: keys.publicKey,
        signingKey: this.#keys.privateKey,
        signingAlgorithm: ALGORITHM,
        ...validity(expired),
        extensions,
      },
      webcrypto,
    );
    const privateKey = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return {
      certificate: pem('CERTIFICATE', certificate.rawData),
      privateKey: pem('PRIVATE KEY', privateKey),
    };
  }
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function validity(expired: boolean): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return {
    notBefore: new Date(now - 2 * DAY_MS),
    notAfter: new Date(now + (expired ? -DAY_MS : DAY_MS)),
  };
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
