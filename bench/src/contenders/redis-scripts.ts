/**
 * The Lua scripts of the Redis contenders. Redis runs a script without letting anything in between, but does not undo what a
 * script did before it failed: so both check every operation first and write afterwards.
 *
 * `KEYS`: see each script. `ARGV[1]`: the operations as JSON, announced to the followers as they are; `ARGV[2]`: the channel.
 * Answer: `''` when committed, else the refused cell.
 */
import { BUDGET_MAX, JOURNAL_MAX, TAGS_MAX } from '../board.ts';

/** The transition table of a task, as `from>to`. */
const MOVES = `{['todo>doing']=1, ['doing>review']=1, ['review>done']=1, ['done>todo']=1, ['review>doing']=1}`;

/**
 * The board in Redis' own structures.
 * `KEYS`: numbers (hash), tags (set), journal (list), registers (hash), tasks (hash with fields like `task07:owner`).
 */
export const STRUCTURES_SCRIPT: string = `
local numbers, tags, journal, registers, tasks = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local moves = ${MOVES}
local operations = cjson.decode(ARGV[1])
for _, op in ipairs(operations) do
  local verb = op.verb
  if verb == 'spend' then
    if tonumber(redis.call('HGET', numbers, 'budget')) < op.value then return op.field end
  elseif verb == 'inc' then
    if op.field == 'budget' and tonumber(redis.call('HGET', numbers, 'budget')) + op.value > ${BUDGET_MAX} then return op.field end
  elseif verb == 'add' then
    if redis.call('SCARD', tags) >= ${TAGS_MAX} then return op.field end
  elseif verb == 'set' then
    if op.expected and redis.call('HGET', registers, op.field) ~= op.expected then return op.field end
  elseif verb == 'claim' then
    if redis.call('HGET', tasks, op.key .. ':owner') ~= '' then return op.key end
  elseif verb == 'release' then
    if redis.call('HGET', tasks, op.key .. ':owner') ~= op.value then return op.key end
  elseif verb == 'move' then
    if redis.call('HGET', tasks, op.key .. ':status') ~= op.expected or not moves[op.expected .. '>' .. op.value] then return op.key end
  end
end
for _, op in ipairs(operations) do
  local verb = op.verb
  if verb == 'inc' then redis.call('HINCRBY', numbers, op.field, op.value)
  elseif verb == 'spend' then redis.call('HINCRBY', numbers, op.field, -op.value)
  elseif verb == 'add' then redis.call('SADD', tags, op.value)
  elseif verb == 'remove' then redis.call('SREM', tags, op.value)
  elseif verb == 'append' then
    redis.call('RPUSH', journal, op.value)
    redis.call('LTRIM', journal, -${JOURNAL_MAX}, -1)
  elseif verb == 'set' then
    if op.key then redis.call('HSET', tasks, op.key .. ':title', op.value) else redis.call('HSET', registers, op.field, op.value) end
  elseif verb == 'claim' then redis.call('HSET', tasks, op.key .. ':owner', op.value)
  elseif verb == 'release' then redis.call('HSET', tasks, op.key .. ':owner', '')
  elseif verb == 'move' then redis.call('HSET', tasks, op.key .. ':status', op.value)
  end
end
redis.call('PUBLISH', ARGV[2], ARGV[1])
return ''
`;

/** The board as one JSON document under `KEYS[1]`. */
export const DOCUMENT_SCRIPT: string = `
local moves = ${MOVES}
local board = cjson.decode(redis.call('GET', KEYS[1]))
local operations = cjson.decode(ARGV[1])
for _, op in ipairs(operations) do
  local verb = op.verb
  local task = op.key and board.tasks[op.key]
  if verb == 'spend' then
    if board.budget < op.value then return op.field end
  elseif verb == 'inc' then
    if op.field == 'budget' and board.budget + op.value > ${BUDGET_MAX} then return op.field end
  elseif verb == 'add' then
    if #board.tags >= ${TAGS_MAX} then return op.field end
  elseif verb == 'set' then
    if op.expected and board.registers[op.field] ~= op.expected then return op.field end
  elseif verb == 'claim' then
    if task.owner ~= '' then return op.key end
  elseif verb == 'release' then
    if task.owner ~= op.value then return op.key end
  elseif verb == 'move' then
    if task.status ~= op.expected or not moves[op.expected .. '>' .. op.value] then return op.key end
  end
end
for _, op in ipairs(operations) do
  local verb = op.verb
  local task = op.key and board.tasks[op.key]
  if verb == 'inc' or verb == 'spend' then
    local amount = verb == 'inc' and op.value or -op.value
    if op.field == 'budget' then board.budget = board.budget + amount else board.counters[op.field] = board.counters[op.field] + amount end
  elseif verb == 'add' then table.insert(board.tags, op.value)
  elseif verb == 'remove' then
    for index, tag in ipairs(board.tags) do
      if tag == op.value then table.remove(board.tags, index) break end
    end
  elseif verb == 'append' then
    table.insert(board.journal, op.value)
    if #board.journal > ${JOURNAL_MAX} then table.remove(board.journal, 1) end
  elseif verb == 'set' then
    if task then task.title = op.value else board.registers[op.field] = op.value end
  elseif verb == 'claim' then task.owner = op.value
  elseif verb == 'release' then task.owner = ''
  elseif verb == 'move' then task.status = op.value
  end
end
redis.call('SET', KEYS[1], cjson.encode(board))
redis.call('PUBLISH', ARGV[2], ARGV[1])
return ''
`;
