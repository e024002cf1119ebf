import { expect } from 'chai';
import { sentenceOf } from '../../src/messages/wording.js';

const caused = (message: string, cause?: unknown) => new Error(message, { cause });

describe('The sentence about an error', () => {
  const sentence = (cause?: unknown) => sentenceOf(caused('out of reach', cause));

  it('contains each message in the chain of causes exactly once', () => {
    const chain = caused('refused', caused('', caused('refused', caused('by b'))));
    expect(sentence(chain)).to.equal('out of reach (refused: by b)');
    expect(sentence()).to.equal('out of reach');
    const inner = caused('plants are refused: capped', caused('capped'));
    expect(sentence(inner)).to.equal('out of reach (plants are refused: capped)');
    expect(sentenceOf('a text', 'PLACE')).to.equal('PLACE: a text');
  });

  it('contains every message of several causes', () => {
    const causes = [caused('by a'), caused('by b')];
    const several = new AggregateError(causes, 'nowhere', { cause: caused('first') });
    expect(sentence(several)).to.equal('out of reach (nowhere: first: by a: by b)');
  });
});
