import { expect } from 'chai';
import { countedMethod } from '../../src/frame/counted-method.js';

describe('The method in metrics', () => {
  const methods = 'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' ');

  for (const method of methods) {
    it(`is ${method} itself`, () => expect(countedMethod(method)).to.equal(method));
  }

  for (const method of ['PURGE', 'post', '', undefined]) {
    it(`is _OTHER for ${JSON.stringify(method)}`, () => {
      expect(countedMethod(method)).to.equal('_OTHER');
    });
  }
});
