import { expect } from 'chai';
import { ids } from '../src/container.js';

describe('The ids of the container', () => {
  it('have their own names', () => {
    for (const [name, id] of Object.entries(ids)) {
      const written = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      expect(String(id)).to.equal(`Symbol(${written})`);
    }
  });
});
