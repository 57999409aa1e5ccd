/** Names of the pack and its tools, without loading the tools. */
export const HERITAGE_PACK = 'heritage';

/** The database file in the data folder. */
export const HERITAGE_FILE = 'heritage.db';

export const HERITAGE_TOOLS: readonly string[] = [
  'get_npc_profile',
  'search_content',
  'get_site_map',
  'create_draft_content',
  'log_user_event',
  'get_prompt_active',
];

/** The tenant and site of the sample data. */
export const SAMPLE_SCOPE = { tenant: 'yantian', site: 'yantian-main' } as const;
