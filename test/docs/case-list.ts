/**
 * The collected cases by number, with the public reports that they were made of, and why some cannot be shown here.
 *
 * A number stays what it is: tests carry it in their titles. Numbers have gaps.
 */

/** One case. `reports` are public threads, `owner/repo#number`; `reason` says why no test shows it. */
export type Case = {
  readonly id: string;
  readonly collection: 'report' | 'surprise' | 'input';
  readonly reports: readonly string[];
  readonly reason?: string;
};

/** Every case of the three collections, in order. */
export function allCases(): readonly Case[] {
  const numbered = (
    entries: readonly (readonly [string, readonly string[]])[],
    word: string,
    collection: Case['collection'],
  ): readonly Case[] => entries.map(([number, reports]) => ({ id: `${word}${number}`, collection, reports }));
  const reports = Object.entries(REPORTS).map(([number, report]) => [number, [report]] as const);
  const inputs = INPUTS.trim()
    .split(/\s+/)
    .map((number) => [number, []] as const);
  return [
    ...numbered(reports, 'BUG ', 'report'),
    ...numbered(Object.entries(SURPRISES), 'SURPRISE ', 'surprise'),
    ...numbered(inputs, 'BI-', 'input'),
  ].map((one) => (REASONS[one.id] === undefined ? one : { ...one, reason: REASONS[one.id] as string }));
}

const ARCHIVES = 'Nothing here opens an archive: artefacts are bytes under their digest. Whatever does so first owes it.';
const HTTP = 'Nothing here listens to HTTP or WebSockets. The mirror or the dashboard that does so first owes it.';
const SCHEDULES = 'No schedule is read from a file yet. The simulator that does so owes it.';

/** Public reports of shared agent state, by number: `[BUG 1]`. */
const REPORTS: { readonly [number: number]: string } = {
  1: 'langchain-ai/langgraph#2336',
  2: 'langchain-ai/deepagentsjs#144',
  4: 'shanevcantwell/langgraph-agentic-scaffold#142',
  5: 'langchain-ai/langgraph#6446',
  7: 'langchain-ai/langgraph#8796',
  8: 'langchain-ai/langgraph#6728',
  10: 'existential-birds/amelia#457',
  11: 'langchain-ai/langgraphjs#2519',
  13: 'langchain-ai/langchain-academy#42',
  14: 'automerge/automerge#26',
  16: 'google/adk-python#1733',
  17: 'google/adk-python#6236',
  19: 'google/adk-python#3717',
  20: 'google/adk-python#1153',
  22: 'ag-ui-protocol/ag-ui#1732',
  23: 'modelcontextprotocol/servers#1819',
  25: 'anthropics/claude-code#21060',
  26: 'anthropics/claude-code#53896',
  28: 'eyaltoledano/claude-task-master#1567',
  29: 'Yeachan-Heo/oh-my-claudecode#1160',
  31: 'NousResearch/hermes-agent#26045',
  32: 'anthropics/claude-code#29143',
  34: 'mastra-ai/mastra#7775',
  35: 'mastra-ai/mastra#12415',
  37: 'anthropics/claude-code#2250',
  38: 'anomalyco/opencode#23400',
  40: 'vitkuz573/skillstate',
  41: 'vitkuz573/skillstate',
  43: 'crewAIInc/crewAI#6327',
  44: 'crewAIInc/crewAI#7183',
  46: 'microsoft/autogen#6088',
  47: 'inngest/agent-kit#196',
  49: 'a2aproject/a2a-python#278',
  50: 'a2aproject/a2a-js#412',
  52: 'a2aproject/A2A#1794',
  53: 'hinthornw/trustcall#25',
  55: 'evanphx/json-patch#178',
  56: 'CopilotKit/CopilotKit#5998',
  58: 'ag-ui-protocol/ag-ui#2242',
  59: 'pierreinglebert/json-merge-patch#7',
  61: 'Starcounter-Jack/JSON-Patch#297',
  62: 'yjs/yjs#483',
  64: 'bloknayrb/tandem#1920',
  65: 'yjs/yjs#514',
  67: 'automerge/automerge-classic#98',
  68: 'automerge/automerge#352',
  70: 'automerge/automerge-classic#28',
  71: 'reearth/ygo#110',
  73: 'nats-io/nats.rs#1301',
  74: 'nats-io/nats-server#7281',
  76: 'nats-io/nats-server#7564',
  77: 'nats-io/nats-server#5142',
  79: 'kannon-email/kannon#427',
  80: 'nats-io/nats-server#4786',
  82: 'aegra/aegra#547',
  83: 'coalesce-labs/catalyst#1476',
  85: 'stablyai/orca#18368',
  86: 'dbos-inc/dbos-transact-py#544',
  88: 'livestorejs/livestore#1537',
  89: 'Yeachan-Heo/oh-my-claudecode#3562',
  91: 'bytedance/deer-flow#3011',
  92: 'theexperiencecompany/gaia#972',
};

/** Surprises and bugs of systems that merge, by number: `[SURPRISE 1]`. */
const SURPRISES: { readonly [number: number]: readonly string[] } = {
  1: ['langchain-ai/langgraph#8382'],
  2: ['langchain-ai/langgraph#2336', 'langchain-ai/langgraph#6446'],
  3: ['langchain-ai/langgraphjs#2737'],
  4: ['minitap-ai/mobile-use#208'],
  5: ['yjs/yjs#461'],
  6: ['yjs/yjs#514', 'yjs/yjs#642', 'yjs/yjs#472'],
  7: ['yjs/yjs#525', 'jupyterlab/jupyter-collaboration#571', 'onyx-dot-app/agent-wiki#575'],
  8: ['yjs/y-websocket#39', 'yjs/y-websocket-server#10'],
  9: ['y-crdt/y-crdt#361'],
  10: ['reearth/ygo#110'],
  11: ['y-crdt/y-octo#53'],
  12: ['automerge/automerge#939'],
  13: ['automerge/automerge#579'],
  14: ['automerge/automerge-classic#506', 'automerge/automerge-classic#316', 'automerge/automerge-classic#413'],
  15: ['automerge/automerge-swift#64'],
  16: ['loro-dev/loro#759', 'loro-dev/loro#991'],
  17: ['loro-dev/loro#1046', 'loro-dev/loro#1040', 'loro-dev/loro#490', 'loro-dev/loro#181'],
  18: [
    'kubernetes-sigs/structured-merge-diff#336',
    'kubernetes-sigs/structured-merge-diff#249',
    'kubernetes-sigs/structured-merge-diff#184',
  ],
  19: ['basho/riak_dt#92', 'basho/riak_dt#98', 'basho/riak_dt#99', 'basho/riak#580'],
  20: ['basho/riak_kv#1094', 'basho/riak_kv#761'],
  21: ['akka/akka-core#22648', 'akka/akka-core#22631', 'akka/akka-samples#31'],
  22: ['AntidoteDB/antidote#212', 'AntidoteDB/antidote#367'],
  23: ['rocicorp/mono#4608', 'rocicorp/mono#6340'],
  24: ['rocicorp/replicache#422'],
  25: ['share/sharedb#355', 'share/sharedb#616', 'share/sharedb#396'],
  26: ['microsoft/FluidFramework#27579', 'microsoft/FluidFramework#16731', 'microsoft/FluidFramework#24848'],
  27: ['mirage/irmin#421', 'mirage/irmin#373', 'mirage/irmin#72'],
  28: ['electric-sql/electric#1035', 'electric-sql/electric#385', 'electric-sql/electric#346'],
  29: ['tinyplex/tinybase#280'],
  30: ['vlcn-io/cr-sqlite#299', 'vlcn-io/cr-sqlite#71'],
  31: ['nats-io/nats-server#4320'],
  32: ['Starcounter-Jack/JSON-Patch#262', 'SignalK/signalk-server#2518'],
  33: ['KanishJebaMathewM/Truxify#13124', 'RoseWrightdev/oryx#103'],
  34: ['get-convex/convex-js#170'],
  35: ['elem-azar-unis/CRDT-Redis#1', 'elem-azar-unis/CRDT-Redis#2', 'elem-azar-unis/CRDT-Redis#9'],
  36: ['dcostenco/prism-coder#9'],
};

/** Hostile inputs and a few harmless ones, by number: `[BI-001]`. */
const INPUTS: string = `
  001 003 004 006 007 009 010 012 013 015 016 018 019 021 022 024 025 027 028 030 031 033 034 036
  037 039 040 042 043 045 046 048 049 051 052 054 055 057 058 060 061 063 064 066 067 069 070 072
  073 075 076 078 079 081 082 084 085 087 088 090 091 093 094 096 097 099 100 102 103 105 106 108
  109 111 112 114 115 117 118 120 121 123 124 126 127
`;

/** Why no test shows a case. */
const REASONS: { readonly [id: string]: string } = {
  'BI-108': ARCHIVES,
  'BI-109': ARCHIVES,
  'BI-111': HTTP,
  'BI-112': HTTP,
  'BI-114': HTTP,
  'BI-115': HTTP,
  'BI-117': HTTP,
  'BI-126': SCHEDULES,
  'BI-127': SCHEDULES,
};
