/** Where the server is, and a ticket where one is needed: a page has no place for a key, so the program behind it holds that. */
export async function connection(): Promise<{ server: string; ticket: string | null }> {
  const response = await fetch('/connection', { method: 'POST' });
  if (!response.ok)
    throw new Error(`no ticket: the program that serves this page says why (${response.status})`);
  return (await response.json()) as { server: string; ticket: string | null };
}
