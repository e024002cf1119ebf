const MAX_UNDER_WAY = 4;

/**
 * Returns a store for {@link serve}. At most four inserts are under way; creates that arrive meanwhile form the next one.
 *
 * @param insert Stores documents. Resolves with the indexes of those whose ids are taken.
 */
export function batching(insert) {
  let queue = [];
  let underWay = 0;

  async function insertQueue() {
    if (queue.length === 0 || underWay === MAX_UNDER_WAY) return;
    const batch = queue;
    queue = [];
    underWay += 1;
    try {
      const taken = await insert(batch.map(({ document }) => document));
      for (const [index, { resolve }] of batch.entries()) resolve(!taken.has(index));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay -= 1;
    insertQueue();
  }

  return ({ id, name, tag }) =>
    new Promise((resolve, reject) => {
      queue.push({ document: { _id: id, name, tag }, resolve, reject });
      insertQueue();
    });
}
