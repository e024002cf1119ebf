// Usage: node generate.js <description> <output>
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const [description, output] = process.argv.slice(2);

/** Makes an int64 a bigint, because a number of JavaScript rounds it beyond 2^53. */
function transform({ format }) {
  if (format !== 'int64') return undefined;
  return ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
}

const nodes = await openapiTypescript(pathToFileURL(description), { transform });
await writeFile(output, astToString(nodes));
