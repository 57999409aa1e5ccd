/** For those who need to know the names and not the tools. */
export const HERITAGE_PACK = 'heritage';

/** In the data folder. */
export const HERITAGE_FILE = 'heritage.db';

export const HERITAGE_TOOLS: readonly string[] = [
  'get_npc_profile',
  'search_content',
  'get_site_map',
  'create_draft_content',
  'log_user_event',
  'get_prompt_active',
];

/** Where the sample is: the tenant and site of the demonstration. */
export const SAMPLE_SCOPE = { tenant: 'yantian', site: 'yantian-main' } as const;
