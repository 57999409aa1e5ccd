/** The form of an id tells what it may be of. Agents choose the ids of runs and traces themselves, so these may have any. */
export function kindsOfId(text: string): readonly ('call' | 'run' | 'trace')[] {
  if (!/^[\w.:-]{3,200}$/.test(text)) return [];
  if (/^tc_\w+$/.test(text)) return ['call'];
  if (/^run_\w+$/.test(text)) return ['run'];
  return /^[0-9a-f-]{32,36}$/i.test(text) ? ['trace', 'run'] : [];
}
