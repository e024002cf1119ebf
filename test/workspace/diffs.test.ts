import { expect } from 'chai';
import { read } from '../root.js';
import { followed, tutorials } from '../tutorial.js';

describe('A tutorial, followed alone', () => {
  for (const [name, page] of tutorials) {
    it(`fits the sources, and changes nothing when it is followed a second time: ${name}`, () => {
      const files = followed(page, read);
      expect(followed(page, (file) => files.get(file) ?? '')).to.deep.equal(files);
      expect(files.size).to.be.greaterThan(0);
    });
  }
});
