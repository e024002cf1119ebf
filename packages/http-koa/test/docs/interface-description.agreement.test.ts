import { InvalidNewPlantError } from '@plant-store/domain';
import { newPlantReader } from '@plant-store/plant-json';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { interfaceDescription } from '../../src/docs/interface-description.js';

const readNewPlant = newPlantReader('the body');

function accepts(text: string): boolean {
  try {
    readNewPlant(Buffer.from(text));
    return true;
  } catch (error) {
    if (error instanceof InvalidNewPlantError) return false;
    throw error;
  }
}

/** A validator made from the interface description only. */
function describedAsNewPlant() {
  const ajv = new Ajv2020({
    strict: true,
    keywords: ['components'],
    formats: {
      int64: { type: 'number', validate: (n: number) => n >= -(2 ** 63) && n < 2 ** 63 },
      int32: true,
    },
  });
  ajv.addSchema(
    { $id: 'description', components: interfaceDescription().components },
    undefined,
    true,
  );
  return ajv.compile({ $ref: 'description#/components/schemas/NewPlant' });
}

/** A double with all its digits: `JSON.stringify` writes at most 17. */
function exactDigits(value: number): string {
  return Number.isInteger(value) ? `${BigInt(value)}` : JSON.stringify(value);
}

const unit = fc.nat(0x10ffff).map((it) => String.fromCodePoint(it).toWellFormed());
const string = fc.string({ unit }).map((value) => JSON.stringify(value));
const anything = fc.oneof(
  fc.json(),
  string,
  fc.constantFrom('null', 'true', '[]', '{}', '"1"', '1.0', '1e3', '-0', '0.5'),
);
const number = fc
  .oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(2 ** 63, -(2 ** 63), 2 ** 63 - 1024, -(2 ** 63) - 2048, 2 ** 53),
  )
  .map(exactDigits);

const member = (name: string, value: fc.Arbitrary<string>) =>
  fc.option(
    fc.oneof({ arbitrary: value, weight: 5 }, anything).map((text) => `"${name}":${text}`),
    { freq: 5 },
  );

const body = fc.oneof(
  { arbitrary: anything, weight: 1 },
  {
    arbitrary: fc
      .tuple(
        member('id', number),
        member('name', string),
        member('tag', string),
        member('other', anything),
      )
      .map((members) => `{${members.filter((text) => text !== null).join(',')}}`),
    weight: 9,
  },
);

describe('The check of a NewPlant and the interface description', () => {
  const described = describedAsNewPlant();

  it('accept and refuse the same bodies', () => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(body, (text) => {
        const accepted = accepts(text);
        verdicts.add(accepted);
        expect(accepted, text).to.equal(described(JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
    expect(verdicts.size).to.equal(2);
  });
});
