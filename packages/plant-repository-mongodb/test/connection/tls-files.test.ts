import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CertificateFolder } from '@plant-store/certificates';
import { expect } from 'chai';
import { tlsFileProblem } from '../../src/connection/tls-files.js';

const PASSPHRASE = 'only-used-in-tests';

describe('The files for TLS', () => {
  let folder: CertificateFolder;
  let sound: string;
  let encrypted: string;

  before(async () => {
    folder = await CertificateFolder.create();
    sound = await folder.issue('sound.pem', { subject: 'CN=client' });
    const text = readFileSync(sound, 'utf8');
    const key = createPrivateKey(text).export({
      ...({ type: 'pkcs8', format: 'pem' } as const),
      cipher: 'aes-256-cbc',
      passphrase: PASSPHRASE,
    });
    const [certificate = ''] = text.split(/(?=-----BEGIN PRIVATE)/);
    encrypted = folder.write('encrypted.pem', `${certificate}${key}`);
  });

  it('are accepted when they are valid', () => {
    const files = { tlsCAFile: folder.authority, tlsCertificateKeyFile: sound };
    expect(tlsFileProblem(files)).to.equal(undefined);
    expect(tlsFileProblem({})).to.equal(undefined);
  });

  it('may contain an encrypted key, but only with its password', () => {
    const files = { tlsCertificateKeyFile: encrypted };
    const opened = { ...files, tlsCertificateKeyFilePassword: PASSPHRASE };
    expect(tlsFileProblem(opened)).to.equal(undefined);
    const wrong = { ...files, tlsCertificateKeyFilePassword: 'wrong' };
    for (const refused of [files, wrong]) {
      expect(tlsFileProblem(refused)).to.include('needs tlsCertificateKeyFilePassword');
    }
  });

  it('may contain a client certificate and a revocation list', () => {
    const tlsCRLFile = folder.write('crl.pem', 'not looked at');
    expect(tlsFileProblem({ tlsCertificateKeyFile: sound, tlsCRLFile })).to.equal(undefined);
  });

  it('are refused with what is wrong with them', async () => {
    const other = readFileSync(await folder.issue('other.pem', { subject: 'CN=other' }), 'utf8');
    const text = readFileSync(sound, 'utf8');
    const [certificate = '', key = ''] = text.split(/(?=-----BEGIN PRIVATE)/);
    const [otherCertificate = ''] = other.split(/(?=-----BEGIN PRIVATE)/);
    const brokenKey = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
    const similar = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    for (const [option, content, problem] of [
      ['tlsCAFile', key, 'has no certificate in PEM'],
      ['tlsCAFile', similar, 'has a certificate that cannot be read'],
      ['tlsCertificateKeyFile', key, 'has no certificate in PEM'],
      ['tlsCertificateKeyFile', certificate, 'has no private key in PEM'],
      [
        'tlsCertificateKeyFile',
        `${otherCertificate}${key}`,
        'has a private key that does not belong to its certificate',
      ],
      [
        'tlsCertificateKeyFile',
        `${certificate}${brokenKey}`,
        'has a private key that cannot be read: an encrypted one needs tlsCertificateKeyFilePassword',
      ],
    ] as const) {
      const files = { [option]: folder.write('wrong.pem', content) };
      expect(tlsFileProblem(files)).to.equal(`the file that ${option} names ${problem}`);
    }
  });

  for (const option of ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile']) {
    it(`are refused when the file of ${option} does not exist`, () => {
      expect(tlsFileProblem({ [option]: '/no/such/file' })).to.equal(
        `the file that ${option} names cannot be read`,
      );
    });
  }
});
