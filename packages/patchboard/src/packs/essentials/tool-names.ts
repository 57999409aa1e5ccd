/** The tools of the pack, for those who need to know the names and not the tools. */
export const ESSENTIAL_TOOLS: readonly string[] = ['weather.query', 'database.query', 'calculation.eval'];
