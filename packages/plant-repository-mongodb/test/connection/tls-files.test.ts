import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CertificateFolder } from '@plant-store/certificates';
import { mongoUriProblem } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';

const PASSPHRASE = 'only-used-in-tests';

describe('The files for TLS', () => {
  let folder: CertificateFolder;
  let sound: string;
  let certificate: string;
  let key: string;

  before(async () => {
    folder = await CertificateFolder.create();
    sound = await folder.issue('sound.pem', { subject: 'CN=client' });
    [certificate = '', key = ''] = readFileSync(sound, 'utf8').split(/(?=-----BEGIN PRIVATE)/);
  });

  const problemWith = (files: Record<string, string>) =>
    mongoUriProblem(`mongodb://host/?tls=true&${new URLSearchParams(files)}`);

  it('are accepted when they are valid', () => {
    const files = { tlsCAFile: folder.authority, tlsCertificateKeyFile: sound };
    expect(problemWith(files)).to.equal(undefined);
  });

  it('may contain an encrypted key, but only with its password', () => {
    const format = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
    const secret = createPrivateKey(key).export({ ...format, passphrase: PASSPHRASE });
    const files = { tlsCertificateKeyFile: folder.write('secret.pem', `${certificate}${secret}`) };
    const opened = { ...files, tlsCertificateKeyFilePassword: PASSPHRASE };
    expect(problemWith(opened)).to.equal(undefined);
    for (const refused of [files, { ...files, tlsCertificateKeyFilePassword: 'wrong' }]) {
      expect(problemWith(refused)).to.include('tlsCertificateKeyFilePassword');
    }
  });

  it('must have the key of the certificate', async () => {
    const other = readFileSync(await folder.issue('other.pem', { subject: 'CN=other' }), 'utf8');
    const [, otherKey = ''] = other.split(/(?=-----BEGIN PRIVATE)/);
    for (const [content, reason] of [
      [certificate, 'ERR_OSSL_UNSUPPORTED'],
      [`${certificate}${otherKey}`, 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'],
    ] as const) {
      expect(problemWith({ tlsCertificateKeyFile: folder.write('key.pem', content) })).to.equal(
        `the file that tlsCertificateKeyFile names must have a certificate and its private key, which needs tlsCertificateKeyFilePassword when it is encrypted, in PEM (${reason})`,
      );
    }
  });

  for (const [option, content] of [
    ['tlsCAFile', 'a certificate in'],
    ['tlsCertificateKeyFile', 'a certificate and its private key'],
    ['tlsCRLFile', 'a revocation list in'],
  ] as const) {
    it(`are refused when the file of ${option} does not exist or is not PEM`, () => {
      expect(problemWith({ [option]: '/no/such/file' })).to.match(
        RegExp(`${option} names must have ${content}.*\\(ENOENT\\)`),
      );
      expect(problemWith({ [option]: folder.write('wrong.pem', 'nothing') })).to.include(option);
    });
  }
});
