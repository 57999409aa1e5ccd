import pg from 'pg';

/** Runs `work` with a session of its own, which is ended afterwards. */
export async function withClient<T>(
  connection: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the rows of a query that is sent in a session of its own. */
export async function queryOnce(
  connection: string | pg.ClientConfig,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return await withClient(connection, async (client) => {
    // Without values, the text may hold several statements.
    const sent = values.length === 0 ? client.query(text) : client.query(text, [...values]);
    return (await sent).rows as Record<string, unknown>[];
  });
}
