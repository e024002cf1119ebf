import { readSettings } from '@plant-store/app';
import { expect } from 'chai';

describe('The settings', () => {
  it('have defaults', () => {
    expect(readSettings({})).to.include({ HOST: '127.0.0.1', PORT: 3000, BODY_LIMIT: 16_384 });
  });

  it('accept the token `demo` only where nobody else can send it', () => {
    for (const HOST of ['127.0.0.1', '::1', 'localhost']) readSettings({ HOST });
    expect(() => readSettings({ HOST: '0.0.0.0' })).to.throw(
      'ACCESS_TOKEN_SHA256: the token `demo`',
    );
    readSettings({ HOST: '0.0.0.0', ACCESS_TOKEN_SHA256: 'a'.repeat(64) });
  });

  it('name each invalid variable', () => {
    const env = {
      PORT: '65536',
      BASE_PATH: '/store/..',
      BODY_LIMIT: '0',
      ACCESS_TOKEN_SHA256: 'demo',
      MONGODB_URI: 'http://127.0.0.1',
    };
    expect(() => readSettings(env)).to.throw(
      /PORT:.*\nBASE_PATH:.*\nBODY_LIMIT:.*\nACCESS_TOKEN_SHA256: must be SHA-256 digests.*\nMONGODB_URI:/,
    );
  });
});
