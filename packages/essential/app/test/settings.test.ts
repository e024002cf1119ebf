import { readSettings } from '@plant-store/app';
import { expect } from 'chai';

describe('The settings', () => {
  it('accept the token `demo` only where nobody else can send it', () => {
    for (const HOST of ['127.0.0.1', '::1', 'localhost']) readSettings({ HOST });
    expect(() => readSettings({ HOST: '0.0.0.0' })).to.throw(
      'ACCESS_TOKEN_SHA256: the token `demo`',
    );
    readSettings({ HOST: '0.0.0.0', ACCESS_TOKEN_SHA256: 'a'.repeat(64) });
  });

  it('name each invalid variable, but show no secret', () => {
    const env = {
      HOST: '',
      PORT: '65536',
      BASE_PATH: '/store/..',
      BODY_LIMIT: '0',
      ACCESS_TOKEN_SHA256: 'secret',
      MONGODB_URI: 'secret://secret@127.0.0.1',
    };
    const names = Object.keys(env).map((name) => `${name}: (?!.*secret).+`);
    expect(() => readSettings(env)).to.throw(new RegExp(`^${names.join('\n')}$`));
    const twice = `${'a'.repeat(64)}, ${'A'.repeat(64)}`;
    expect(() => readSettings({ ACCESS_TOKEN_SHA256: twice })).to.throw('token 2: duplicate');
  });
});
