/** The names of the tools of the pack, without loading the tools. */
export const ESSENTIAL_TOOLS: readonly string[] = ['weather.query', 'database.query', 'calculation.eval'];
