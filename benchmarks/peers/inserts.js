import { MongoBulkWriteError } from 'mongodb';
import { DUPLICATE_KEY, plants } from './mongodb.js';

/** Stores a plant. Resolves with false when its id is taken. */
export async function insertOne({ id, name, tag }) {
  try {
    await plants.insertOne({ _id: id, name, tag });
    return true;
  } catch (error) {
    if (error.code === DUPLICATE_KEY) return false;
    throw error;
  }
}

/** Stores documents. Resolves with the indexes of those whose ids are taken. */
export async function insertMany(documents) {
  try {
    await plants.insertMany(documents, { ordered: false });
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const { result, writeErrors } = error;
    // The majority is missing, or no reply came: the driver throws this error for both, with an empty list.
    if (writeErrors.length === 0 || result.getWriteConcernError() !== undefined) throw error;
    if (writeErrors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    return new Set(writeErrors.map(({ index }) => index));
  }
}
