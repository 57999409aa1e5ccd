/** Fetches the server's URL and, if needed, a ticket. A page cannot store a key, so the program that serves it does. */
export async function connection(): Promise<{ server: string; ticket: string | null }> {
  const response = await fetch('/connection', { method: 'POST' });
  if (!response.ok)
    throw new Error(
      `no ticket (HTTP ${response.status}): see the output of the program that serves this page`,
    );
  return (await response.json()) as { server: string; ticket: string | null };
}
