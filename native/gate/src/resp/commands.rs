// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the gate must know of Redis' commands.

/// Commands with one answer that change nothing but data, in the order of their bytes.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "APPEND", "BITCOUNT", "BITFIELD", "BITFIELD_RO", "BITOP", "BITPOS", "BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZMPOP",
    "BZPOPMAX", "BZPOPMIN", "COPY", "DBSIZE", "DECR", "DECRBY", "DEL", "DUMP", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXISTS",
    "EXPIRE", "EXPIREAT", "EXPIRETIME", "FCALL", "FCALL_RO", "GEOADD", "GEODIST", "GEOHASH", "GEOPOS", "GEORADIUS",
    "GEORADIUSBYMEMBER", "GEOSEARCH", "GEOSEARCHSTORE", "GET", "GETBIT", "GETDEL", "GETEX", "GETRANGE", "GETSET", "HDEL", "HEXISTS",
    "HEXPIRE", "HGET", "HGETALL", "HINCRBY", "HINCRBYFLOAT", "HKEYS", "HLEN", "HMGET", "HMSET", "HRANDFIELD", "HSCAN", "HSET",
    "HSETNX", "HSTRLEN", "HTTL", "HVALS", "INCR", "INCRBY", "INCRBYFLOAT", "KEYS", "LCS", "LINDEX", "LINSERT", "LLEN", "LMOVE",
    "LMPOP", "LPOP", "LPOS", "LPUSH", "LPUSHX", "LRANGE", "LREM", "LSET", "LTRIM", "MGET", "MSET", "MSETNX", "OBJECT", "PERSIST",
    "PEXPIRE", "PEXPIREAT", "PEXPIRETIME", "PFADD", "PFCOUNT", "PFMERGE", "PSETEX", "PTTL", "PUBLISH", "RANDOMKEY", "RENAME",
    "RENAMENX", "RESTORE", "RPOP", "RPOPLPUSH", "RPUSH", "RPUSHX", "SADD", "SCAN", "SCARD", "SDIFF", "SDIFFSTORE", "SET", "SETBIT",
    "SETEX", "SETNX", "SETRANGE", "SINTER", "SINTERCARD", "SINTERSTORE", "SISMEMBER", "SMEMBERS", "SMISMEMBER", "SMOVE", "SORT",
    "SORT_RO", "SPOP", "SPUBLISH", "SRANDMEMBER", "SREM", "SSCAN", "STRLEN", "SUBSTR", "SUNION", "SUNIONSTORE", "TOUCH", "TTL",
    "TYPE", "UNLINK", "XACK", "XADD", "XAUTOCLAIM", "XCLAIM", "XDEL", "XGROUP", "XINFO", "XLEN", "XPENDING", "XRANGE", "XREAD",
    "XREADGROUP", "XREVRANGE", "XTRIM", "ZADD", "ZCARD", "ZCOUNT", "ZDIFF", "ZDIFFSTORE", "ZINCRBY", "ZINTER", "ZINTERCARD",
    "ZINTERSTORE", "ZLEXCOUNT", "ZMPOP", "ZMSCORE", "ZPOPMAX", "ZPOPMIN", "ZRANDMEMBER", "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE",
    "ZRANGESTORE", "ZRANK", "ZREM", "ZREMRANGEBYLEX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREVRANGE", "ZREVRANGEBYLEX",
    "ZREVRANGEBYSCORE", "ZREVRANK", "ZSCAN", "ZSCORE", "ZUNION", "ZUNIONSTORE",
];

/// What a command is to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Asks for one answer, and changes nothing but data.
    Plain,
    /// Asks for one answer.
    Other,
    /// The commands after it wait for `EXEC`.
    Begins,
    /// If it is answered so, no commands wait any more.
    Ends,
    /// After it answers do not follow commands, or none comes. Or it is what another protocol begins with.
    Changes,
}

/// By the command's first two words, in any case of letters.
pub fn role(words: &[Vec<u8>; 2]) -> Role {
    let [name, second] = words.each_ref().map(|word| word.to_ascii_uppercase());
    match &name[..] {
        b"MULTI" => Role::Begins,
        b"EXEC" | b"DISCARD" | b"RESET" => Role::Ends,
        b"SUBSCRIBE" | b"PSUBSCRIBE" | b"SSUBSCRIBE" | b"UNSUBSCRIBE" | b"PUNSUBSCRIBE" | b"SUNSUBSCRIBE" | b"MONITOR" | b"SYNC"
        | b"PSYNC" | b"REPLCONF" | b"QUIT" | b"PROXY" | b"POST" | b"HOST:" => Role::Changes,
        b"CLIENT" if matches!(&second[..], b"REPLY" | b"TRACKING") => Role::Changes,
        b"SCRIPT" if second == b"DEBUG" => Role::Changes,
        _ if PLAIN.binary_search_by(|plain| plain.as_bytes().cmp(&name)).is_ok() => Role::Plain,
        _ => Role::Other,
    }
}

/// Whether an answer to `EXEC`, `DISCARD` or `RESET` that begins so says that there is no transaction any more.
pub fn has_ended(answer: &[u8]) -> bool {
    !answer.starts_with(b"+QUEUED") && (!answer.starts_with(b"-") || answer.starts_with(b"-EXECABORT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(PLAIN.is_sorted_by(|a, b| a < b));
        assert!(PLAIN.iter().all(|name| role(&[name.as_bytes().to_vec(), Vec::new()]) == Role::Plain));
    }
}
