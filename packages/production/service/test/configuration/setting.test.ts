import { expect } from 'chai';
import * as v from 'valibot';
import { settings } from '../../src/configuration/configuration.js';
import { DIGEST, ISSUER, JWT, problemsOf } from '../support/configured.js';

/** Returns the texts between lines. */
const texts = (all: string) => all.replaceAll(/\n\s+/g, '').split('|');

/** Invalid values of each variable. */
const INVALID: Readonly<Record<string, readonly string[]>> = {
  PORT: ['"3000"', '3000.5', '0x10', ' 3000', '1e3'],
  HOST: ['a host', '127.0.0.1:3000', '256.0.0.1', '1.2.3'],
  BASE_PATH: ['', 'store', '/store/', '/:store', '/..'],
  PUBLIC_URL: texts(
    `|plants.example.com|ftp://plants.example.com|https://*.example.com|https://plants.example.com/
    |https://a.example?b|https://me@plants.example.com|https://plants.example.com/#a|https:a.example`,
  ),
  STORAGE: ['disk'],
  NODE_ENV: ['', 'prod', 'Production'],
  MONGODB_URI: ['', 'postgres://a', 'mongodb://a\n'],
  ACCESS_TOKEN_SHA256: ['', `${DIGEST}\n`],
  JWT_ISSUER: [
    `"${ISSUER}"`,
    `${ISSUER}/.well-known/openid-configuration`,
    `${ISSUER},https://b.example`,
    'https://login.example.com/{tenantid}/v2.0',
    'https://*.example.com',
  ],
  JWT_AUDIENCE: ['', '*', 'plants,seeds', "'plants'", '{client-id}'],
  JWT_SCOPE: ['', 'plants:create,plants:read'],
  JWT_NAME_CLAIM: ['', 'sub,azp'],
  TRUSTED_PROXIES: texts(
    '|a-proxy|10.0.0.0/33|10|010.0.0.1|10.0.0.*|0.0.0.0|::|[::1]|127.0.0.1:8080',
  ),
  CORS_ALLOWED_ORIGINS: texts(
    `|*|null|nursery.example|ftp://nursery.example|https://Nursery.example|file://|capacitor://|capacitor://*
    |Capacitor://localhost|wss://a.example|https://nursery.example/|https://nursery.example/shop
    |https://nursery.example:443|https://nursery.example,|https://a.example,https://a.example
    |https://a.example https://b.example|https://gärtnerei.example|https://*.nursery.example|http://localhost:*
    |https://.nursery.example|https://shop%2Enursery.example|"https://nursery.example"`,
  ),
};

describe('The rule of a variable', () => {
  const valueFor = (name: string, text: string) => {
    const { success, output } = v.safeParse(settings[name]?.schema ?? v.never(), text);
    return success ? output : undefined;
  };

  it('accepts its example, and values that common platforms set', () => {
    for (const [name, { example }] of Object.entries(settings)) {
      expect(valueFor(name, example), name).not.to.equal(undefined);
    }
    for (const proxies of texts('10.0.0.5/8, 127.0.0.1|::1,fd00::/8|loopback|10.0.0.0/255.0.0.0')) {
      expect(valueFor('TRUSTED_PROXIES', proxies), proxies).to.be.a('function');
    }
    for (const origin of texts(
      `http://localhost:5173|http://[::1]:3000|https://xn--grtnerei-0za.example|https://a_b.example.
      |capacitor://localhost|chrome-extension://abcdefghijklmnopabcdefghijklmnop`,
    )) {
      expect(valueFor('CORS_ALLOWED_ORIGINS', origin)).to.deep.equal([origin]);
    }
    for (const host of ['::', 'fe80::1', '0.0.0.0', 'plants.example', 'db_1']) {
      expect(valueFor('HOST', host)).to.equal(host);
    }
  });

  it('accepts whole numbers from the smallest to the largest', () => {
    for (const [name, { rule }] of Object.entries(settings)) {
      const [, least, most] = /^a whole number from (\d+) to (\d+)$/.exec(rule) ?? [];
      if (least === undefined) continue;
      const [min, max] = [Number(least), Number(most)];
      const values = [min - 1, min, max, max + 1].map((value) => valueFor(name, `${value}`));
      expect(values, name).to.deep.equal([undefined, min, max, undefined]);
    }
  });

  it('refuses 0 for every limit, because Node.js would treat it as no limit', () => {
    const limits = Object.keys(settings).filter((it) => /LIMIT|TIMEOUT|DEADLINE|^MAX_/.test(it));
    expect(limits).to.include.members(['BODY_LIMIT', 'KEEP_ALIVE_TIMEOUT_MS', 'MAX_IN_FLIGHT']);
    for (const name of limits) expect(valueFor(name, '0'), name).to.equal(undefined);
  });

  for (const [variable, values] of Object.entries(INVALID)) {
    it(`refuses invalid values of ${variable}, and states the rule and the fix`, async () => {
      const message = `^${variable}: must be .+, got .+\\. Example: ${variable}=`;
      for (const value of values) {
        const chosen = /^(?:NODE_ENV|JW)/.test(variable) ? { STORAGE: 'memory', ...JWT } : {};
        const [problem, ...others] = await problemsOf({ ...chosen, [variable]: value });
        expect(problem, value).to.match(new RegExp(message));
        expect(others).to.deep.equal([]);
      }
    });
  }
});
