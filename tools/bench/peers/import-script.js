// A typical import script: lines of a file, JSON.parse, 1,000 plants with each insertMany. Rounds ids beyond 2^53.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Long, MongoClient } from 'mongodb';

const AT_ONCE = 1000;

const { MONGODB_URI, MONGODB_COLLECTION, FILE } = process.env;
const client = new MongoClient(MONGODB_URI, { writeConcern: { w: 'majority', journal: true } });
const collection = client.db('plant-store').collection(MONGODB_COLLECTION);
let documents = [];

async function insert() {
  if (documents.length > 0) await collection.insertMany(documents, { ordered: false });
  documents = [];
}

for await (const line of createInterface(createReadStream(FILE))) {
  const { id, name, tag } = JSON.parse(line);
  documents.push({ _id: Long.fromNumber(id), name, tag });
  if (documents.length === AT_ONCE) await insert();
}
await insert();
await client.close();
