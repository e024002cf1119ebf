// The bulk insert of the driver: documents in memory, 1,000 with each insertMany, four at a time.
import { Long, MongoClient, ObjectId } from 'mongodb';

const AT_ONCE = 1000;
const INSERTS = 4;

const { MONGODB_URI, MONGODB_COLLECTION, PLANTS } = process.env;
const client = new MongoClient(MONGODB_URI, { writeConcern: { w: 'majority', journal: true } });
const collection = client.db('plant-store').collection(MONGODB_COLLECTION);
let next = 0;

function document(id) {
  const name = `Monstera deliciosa ${id}`;
  return { _id: Long.fromNumber(id), name, tag: 'tropical', mark: new ObjectId() };
}

async function insert() {
  while (next < Number(PLANTS)) {
    const count = Math.min(AT_ONCE, Number(PLANTS) - next);
    const first = next;
    next += count;
    const documents = Array.from({ length: count }, (_, index) => document(first + index));
    await collection.insertMany(documents, { ordered: false });
  }
}

await Promise.all(Array.from({ length: INSERTS }, insert));
await client.close();
