/**
 * Tables and the one function of the PostgreSQL contenders.
 *
 * The function changes row after row with conditional updates; a row is locked from its update to the end of the
 * transaction. The operations of a patch come sorted by cell, so all patches lock in one order and cannot deadlock.
 * The first operation that does not hold raises `PATCH_REFUSED`, which rolls the whole patch back.
 */
import { BUDGET_MAX, JOURNAL_MAX, TAGS_MAX } from '../board.ts';

/** The error code of a refused patch; classes from `I` to `Z` are free for users. */
export const PATCH_REFUSED = 'OP001';

/** Name of the channel on which committed patches are announced. */
export const CHANNEL = 'board';

/** The rows `journal` and `tags` of `number` count the entries ever appended and the tags present. */
export const SCHEMA: string = `
CREATE TABLE number (name text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE tag (name text PRIMARY KEY);
CREATE TABLE journal (n bigint PRIMARY KEY, entry text NOT NULL);
CREATE TABLE register (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE task (key text PRIMARY KEY, title text NOT NULL, status text NOT NULL, owner text NOT NULL);
CREATE TABLE transition (source text, target text, PRIMARY KEY (source, target));
INSERT INTO transition VALUES ('todo', 'doing'), ('doing', 'review'), ('review', 'done'), ('done', 'todo'), ('review', 'doing');

CREATE FUNCTION commit_patch(operations jsonb) RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
  op jsonb;
  verb text;
  amount bigint;
  entry_n bigint;
  row_count bigint;
BEGIN
  FOR op IN SELECT * FROM jsonb_array_elements(operations) LOOP
    verb := op->>'verb';
    row_count := 1;
    IF verb = 'inc' OR verb = 'spend' THEN
      amount := (op->>'value')::bigint;
      IF verb = 'spend' THEN amount := -amount; END IF;
      IF op->>'field' = 'budget' THEN
        UPDATE number SET value = value + amount WHERE name = 'budget' AND value + amount BETWEEN 0 AND ${BUDGET_MAX};
      ELSE
        UPDATE number SET value = value + amount WHERE name = op->>'field';
      END IF;
      GET DIAGNOSTICS row_count = ROW_COUNT;
    ELSIF verb = 'add' THEN
      UPDATE number SET value = value + 1 WHERE name = 'tags' AND value < ${TAGS_MAX};
      GET DIAGNOSTICS row_count = ROW_COUNT;
      INSERT INTO tag VALUES (op->>'value');
    ELSIF verb = 'remove' THEN
      PERFORM value FROM number WHERE name = 'tags' FOR UPDATE;
      DELETE FROM tag WHERE name = op->>'value';
      IF FOUND THEN UPDATE number SET value = value - 1 WHERE name = 'tags'; END IF;
    ELSIF verb = 'append' THEN
      UPDATE number SET value = value + 1 WHERE name = 'journal' RETURNING value INTO entry_n;
      INSERT INTO journal VALUES (entry_n, op->>'value');
      DELETE FROM journal WHERE n <= entry_n - ${JOURNAL_MAX};
    ELSIF verb = 'set' THEN
      IF op ? 'key' THEN
        UPDATE task SET title = op->>'value' WHERE key = op->>'key';
      ELSIF op ? 'expected' THEN
        UPDATE register SET value = op->>'value' WHERE name = op->>'field' AND value = op->>'expected';
      ELSE
        UPDATE register SET value = op->>'value' WHERE name = op->>'field';
      END IF;
      GET DIAGNOSTICS row_count = ROW_COUNT;
    ELSIF verb = 'claim' THEN
      UPDATE task SET owner = op->>'value' WHERE key = op->>'key' AND owner = '';
      GET DIAGNOSTICS row_count = ROW_COUNT;
    ELSIF verb = 'release' THEN
      UPDATE task SET owner = '' WHERE key = op->>'key' AND owner = op->>'value';
      GET DIAGNOSTICS row_count = ROW_COUNT;
    ELSIF verb = 'move' THEN
      UPDATE task SET status = op->>'value' WHERE key = op->>'key' AND status = op->>'expected'
        AND EXISTS (SELECT 1 FROM transition WHERE source = op->>'expected' AND target = op->>'value');
      GET DIAGNOSTICS row_count = ROW_COUNT;
    END IF;
    IF row_count = 0 THEN
      RAISE EXCEPTION USING ERRCODE = '${PATCH_REFUSED}', MESSAGE = coalesce(op->>'key', op->>'field');
    END IF;
  END LOOP;
  PERFORM pg_notify('${CHANNEL}', operations::text);
END
$function$;
`;
