import { expect } from 'chai';
import { trustedUrl } from '../src/trusted-url.js';

describe('A URL of keys', () => {
  for (const text of [
    'https://issuer.example/keys?a=b',
    'http://localhost:1/',
    'http://127.0.0.1/',
    'http://[::1]/',
  ]) {
    it(`is trusted: ${text}`, () => {
      expect(trustedUrl(text)?.href).to.equal(text);
    });
  }

  for (const text of [
    'http://issuer.example/',
    'http://127.example/',
    'ftp://127.0.0.1/',
    'https://user@issuer.example/',
    'https://:password@issuer.example/',
    'https://issuer.example/#key',
    'keys',
    '',
  ]) {
    it(`is not trusted: ${JSON.stringify(text)}`, () => {
      expect(trustedUrl(text)).to.equal(undefined);
    });
  }
});
