import {
  JwtTokenVerifier,
  type JwtTokenVerifierOptions,
  jwtOptionProblems,
} from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';

const valid = { issuer: 'https://issuer.example/realms/plants', audience: 'plants' };

describe('JwtTokenVerifier', () => {
  const accepted: Partial<JwtTokenVerifierOptions>[] = [
    { issuer: 'http://localhost:8080/realms/plants' },
    { issuer: 'http://keycloak:8080/realms/plants', jwksUrl: 'https://keycloak/certs' },
    { issuer: 'any name', jwksUrl: 'http://127.9.9.9/certs?version=2' },
    { algorithms: ['ES512', 'Ed25519'] },
    { algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] },
    { scopes: { 'create plants': 'https://plants.example/plants:create' } },
  ];

  for (const options of accepted) {
    it(`accepts the options ${JSON.stringify(options)}`, () => {
      expect(jwtOptionProblems({ ...valid, ...options })).to.deep.equal([]);
    });
  }

  const refused: Partial<JwtTokenVerifierOptions>[] = [
    { issuer: '', jwksUrl: 'https://issuer.example/certs' },
    { issuer: 'http://issuer.example' },
    { issuer: 'https://issuer.example/?realm=plants' },
    { jwksUrl: 'http://keycloak:8080/certs' },
    { jwksUrl: 'http://127.example/' },
    { jwksUrl: 'https://user@issuer.example/' },
    { jwksUrl: 'https://issuer.example/#key' },
    { algorithms: ['RS256', 'HS512'] },
    { scopes: { 'create plants': 'plants:create plants:read' } },
  ];

  it('states the rule of each option that it refuses', () => {
    const url = 'an https URL, or an http URL on the loopback interface, without a user';
    expect(jwtOptionProblems({ issuer: '', audience: '' })).to.deep.equal([
      { option: 'issuer', expected: `${url}, a query or a fragment` },
      { option: 'audience', expected: 'a non-empty string' },
    ]);
    const refused = { jwksUrl: '', algorithms: [], scopes: { 'create plants': '' } };
    expect(jwtOptionProblems({ ...valid, ...refused })).to.deep.equal([
      { option: 'jwksUrl', expected: `${url} or a fragment` },
      {
        option: 'algorithms',
        expected:
          'one or more of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519',
      },
      { option: 'scopes.create plants', expected: 'a single scope (RFC 6749, section 3.3)' },
    ]);
  });

  for (const options of refused) {
    it(`refuses the options ${JSON.stringify(options)}`, () => {
      const [invalid] = Object.keys(options);
      const problems = jwtOptionProblems({ ...valid, ...options });
      expect(problems.map(({ option }) => option.split('.')[0])).to.deep.equal([invalid]);
    });
  }

  it('throws an error with every problem of its options, but no secret', () => {
    const jwksUrl = 'https://a:secret@b';
    const invalid = { issuer: '', audience: '', algorithms: ['none'], jwksUrl };
    expect(() => new JwtTokenVerifier(invalid))
      .to.throw(TypeError, /^issuer must be .*; audience .*; jwksUrl .*; algorithms must be/)
      .with.property('message')
      .that.does.not.include('secret');
  });
});
