/* One key of one bucket, its messages' statuses and its row in blocked_key: what claims, settles, operators
   and late requests do to them.

   Two relays, N messages; a message's index is its sequence. Other keys of the bucket are abstracted: a read
   meets any prefix of the key's PENDING messages, any of its due SCHEDULED ones, and has room for 1, 2 or N.
   Each of the store's transactions is one atomic step. Publishing is one step a message. A relay may pause,
   crash or lose its lease between any two steps; the lease may run out at any time.

   T1 lease, read, move        Claims.lease, BatchReader
   T2 settle, read the next    Claims.step, Settlement (the lease is kept)
   T3 settle, release          Claims.settle

   Switches (-DNAME=value), defaults as the code is:
   N         2  messages
   FENCE     1  0: T2 and T3 do not ask whether this claim still holds the bucket
   SPLITSET  0  1: they ask in a transaction of its own
   SPLITMOVE 0  1: T1 moves messages in a transaction of its own
   PREFETCH  0  1: the next messages of the bucket are published before the first ones are settled
   MOVELAST  0  1: a blocked key is read before the moves of the same claim
   UNAVAIL   0  1: the publisher may say unavailable: a retry that does not count
   P2OFF     0  1: the publisher goes on with a key after one of it was not delivered
   TWO       0  1: a settle may hold a retry and a later blocking death of the key (the SPI allows it, the relay
                never does); 2: two blocking deaths
   LATE      0  1: message 0 commits after message 1
   SCHED     0  1, 2: message 0, 1 is delayed
   BKEY      0  1: a dead letter halts its key; 2: some do and some do not
   HALTEDBY  1  0: a flag says that a key is halted, not which dead letter halts it
   HALTCLEAN 0  1: a key's row goes when none of its messages is BLOCKED, halted or not
   EMPTYROW  1  0: a claim leaves a due row without BLOCKED messages alone
   HEAD      1  the head comes alone 1: while it has failed before (last_failed_at); 2: while it has attempts;
                0: never
   LOWMOVE   1  0: moves do not lower low_seq
   LOWREQ    1  0: a requeue on a halted key does not lower low_seq
   LOWTWO    1  0: of a retry and a blocking death in one settle, low_seq is that of the dead letter
   OPREQ     0  an operator requeues a dead letter: 1 as the code does; 2 to PENDING; 3 to PENDING with a new
                sequence (needs N=3 or 4: the last one); 4 to BLOCKED, whether the key is halted or not
   OPDISC    0  an operator discards a dead letter: 1 as the code does; 2 and deletes the key's row where it saw
                no BLOCKED message, in a transaction of its own
   OPMAX     1  how many times
   REPEAT    0  1: T2 commits, its reply is lost, and the settle is repeated as T3; 2: T2 arrives once more, late
   COND      3  a failure is recorded while 0: always; 1: the attempts are as claimed; 2: and the status; 3: the
                attempts and available_at: nobody has requeued it since
   RETKEY    1  0: the key is blocked also where the failure was recorded already
   MAXATT    2  counted failures that make a dead letter
   C2STRICT  0  1: C2 without exceptions        EXEMPT  1  0: O1 without exceptions
   O2STRICT  0  1: no message that failed before comes with later ones, also where it is not the head
   NOC1      0  1: two live claims are not an error by themselves                                          */
#ifndef N
#define N 2
#endif
#ifndef FENCE
#define FENCE 1
#endif
#ifndef SPLITSET
#define SPLITSET 0
#endif
#ifndef SPLITMOVE
#define SPLITMOVE 0
#endif
#ifndef PREFETCH
#define PREFETCH 0
#endif
#ifndef MOVELAST
#define MOVELAST 0
#endif
#ifndef UNAVAIL
#define UNAVAIL 0
#endif
#ifndef P2OFF
#define P2OFF 0
#endif
#ifndef TWO
#define TWO 0
#endif
#ifndef LATE
#define LATE 0
#endif
#ifndef SCHED
#define SCHED 0
#endif
#ifndef BKEY
#define BKEY 0
#endif
#ifndef HALTEDBY
#define HALTEDBY 1
#endif
#ifndef HALTCLEAN
#define HALTCLEAN 0
#endif
#ifndef EMPTYROW
#define EMPTYROW 1
#endif
#ifndef HEAD
#define HEAD 1
#endif
#ifndef LOWMOVE
#define LOWMOVE 1
#endif
#ifndef LOWREQ
#define LOWREQ 1
#endif
#ifndef LOWTWO
#define LOWTWO 1
#endif
#ifndef OPREQ
#define OPREQ 0
#endif
#ifndef OPDISC
#define OPDISC 0
#endif
#ifndef OPMAX
#define OPMAX 1
#endif
#ifndef REPEAT
#define REPEAT 0
#endif
#ifndef COND
#define COND 3
#endif
#ifndef RETKEY
#define RETKEY 1
#endif
#ifndef MAXATT
#define MAXATT 2
#endif
#ifndef C2STRICT
#define C2STRICT 0
#endif
#ifndef EXEMPT
#define EXEMPT 1
#endif
#ifndef O2STRICT
#define O2STRICT 0
#endif
#ifndef NOC1
#define NOC1 0
#endif

/* statuses; ABSENT is not committed yet, GONE is delivered or discarded */
#define ABSENT 0
#define PEND 1
#define SCH 2
#define BLK 3
#define DEAD 4
#define GONE 5
#define LIVE(i) (st[i]==PEND || st[i]==SCH || st[i]==BLK)
/* the key's row in blocked_key: none; its time has not come; it has; halted */
#define NONE 0
#define WAIT 1
#define DUE 2
#define HALT 3
/* decisions */
#define OK 1
#define FAIL 2
#define REJ 3           /* dead; under BKEY it halts the key */
#define UNAV 4
#define DIE 5           /* dead, and does not halt the key (BKEY=2) */
#define FREE 2

byte st[N]; byte att[N];
bool failed[N];                         /* last_failed_at is set */
bool due;                               /* SCHEDULED messages are due */
byte row; byte low; byte haltedBy;
byte holder = FREE; bool expired;
byte ops; bool allin;

/* ghosts */
bool live[2]; bool idle[2];             /* a claim by the server's clock; a relay between two claims */
bool del[N];                            /* delivered at least once */
bool ex[N];                             /* an exception of O1: dead-lettered, requeued, delayed, late */
bool undecided[N];                      /* a dead letter that halts its key, and nobody has decided about it */
#if OPREQ==3
byte renewed = 7;                       /* comes back as the last sequence */
#endif
#if REPEAT
byte fails[N]; bool gen[N];             /* failures that publishers reported; whether it was requeued */
#define REPORT(i) fails[i]=(fails[i]<MAXATT -> fails[i]+1 : fails[i])
#define CLAIMED(i) ca[i]=att[i]; cs[i]=st[i]; cg[i]=gen[i]
#define FORGET(i) ca[i]=0; cs[i]=0; cg[i]=0
#define REQUEUED(i) fails[i]=0; gen[i]=1
#define SAME(i) (COND==0 || (att[i]==ca[i] && (COND!=2 || st[i]==cs[i]) && (COND<3 || gen[i]==cg[i])))
#define ONCE(i) assert(att[i]<=fails[i]); assert(gen[i]==cg[i])   /* S1: counted once; undoes nothing that came between */
#else
#define REPORT(i) skip
#define CLAIMED(i) skip
#define FORGET(i) skip
#define REQUEUED(i) skip
#define SAME(i) 1
#define ONCE(i) skip
#endif
#if REPEAT==2
byte lateOf = FREE; byte lout[N]; byte latt[N]; byte lst[N]; bool lgen[N]; bool lfb;   /* T2 on its way once more */
#define SENT   if :: lateOf==FREE -> lateOf=me; lfb=fb; i=0; do :: i<N -> lout[i]=out[i]; latt[i]=ca[i]; lst[i]=cs[i]; lgen[i]=cg[i]; i++ :: else -> break od; i=0 :: skip fi
#define LOSTIT if :: lateOf==me -> DROP :: else fi
#define DROP   lateOf=FREE; lfb=0; i=0; do :: i<N -> lout[i]=0; latt[i]=0; lst[i]=0; lgen[i]=0; i++ :: else -> break od; i=0
#else
#define SENT skip
#define LOSTIT skip
#endif

inline anyBlocked(from) {               /* b: whether a message from there on is BLOCKED */
  b=0; i=0; do :: i<N -> b=(b || (i>=from && st[i]==BLK)); i++ :: else -> break od; i=0 }

inline noRow() { row=NONE; low=0; haltedBy=0 }

/* Statements.advance: a key that is not halted goes on, or is free */
inline advance() {
  if :: row==WAIT || row==DUE || (HALTCLEAN && row==HALT) ->
        anyBlocked(low);
        if :: b -> row=(row==HALT -> HALT : DUE); do :: st[low]!=BLK -> low++ :: else -> break od
           :: else -> noRow() fi; b=0
     :: else fi }

/* first deliveries come in the order of sequences (O1) */
inline deliver(m) {
  if :: !del[m] ->
        k=0; do :: k<N -> assert(!(k>m && del[k] && !(EXEMPT && (ex[m] || ex[k])))); k++ :: else -> break od; k=0;
#if OPREQ==3
        assert(!(BKEY && renewed<m && m<N-1 && !del[N-1]));
#endif
        del[m]=1
     :: else fi }

/* Statements.move and lower, of PENDING ones in the first upTo and of due SCHEDULED ones */
inline moves(upTo) {
  i=0; do :: i<N ->
        b=(i<upTo && st[i]==PEND);
        if :: st[i]==SCH && due && i<upTo -> if :: b=1 :: skip fi :: else fi;
        if :: b -> st[i]=BLK; low=((LOWMOVE && low>i) -> i : low) :: else fi;
        i++ :: else -> break od; i=0; b=0 }

/* Statements.readBlocked */
inline readBlocked() {
  if :: row==DUE ->
        i=low; do :: i<N ->
              if :: st[i]==BLK && n<lim && !(n>0 && b) ->
                    have[i]=1; CLAIMED(i); n++;
                    b=(n==1 -> ((HEAD==1 && failed[i]) || (HEAD==2 && att[i]>0)) : b)
                 :: else fi;
              i++ :: else -> break od; i=0; b=0;
        if :: EMPTYROW && n==0 -> advance() :: else fi;
        fb=1
     :: else fi }

inline limits() {
  if :: lim=1 :: lim=2 :: lim=N fi; if :: p=0 :: p=1 :: p=2 :: p=N fi }

inline read() {
  n=0; fb=0; limits();
  if :: row!=NONE ->
        if :: MOVELAST -> readBlocked() :: else fi;
        if :: row!=NONE && SPLITMOVE -> mv=1
           :: row!=NONE && !SPLITMOVE -> moves(p)
           :: else fi;
        if :: !MOVELAST -> readBlocked() :: else fi
     :: else ->
        i=0; do :: i<N ->
              if :: st[i]==PEND && i<p && n<lim -> have[i]=1; CLAIMED(i); n++
                 :: st[i]==SCH && due && n<lim -> if :: have[i]=1; CLAIMED(i); n++ :: skip fi
                 :: st[i]==PEND && !(i<p && n<lim) -> p=0
                 :: else fi;
              i++ :: else -> break od; i=0
  fi;
  lim=0; p=0; checkRead() }

/* C2: from the oldest on without a gap; O2, O3: nothing of a key that waits */
inline checkRead() {
  i=0; do :: i<N ->
        k=0; b=0; do :: k<N -> b=(b || (k>i && have[k] && (C2STRICT || !ex[k]))); k++ :: else -> break od;   /* a later one is claimed */
        if :: have[i] ->
              assert(row!=WAIT && row!=HALT);
              k=0; do :: k<i -> assert(!undecided[k]); k++ :: else -> break od;
              if :: failed[i] && (O2STRICT || !ex[i]) ->
                    k=0; do :: k<i -> if :: have[k] -> b=(O2STRICT && b) :: else fi; k++ :: else -> break od;
                    assert(!b)
                 :: else fi
           :: !have[i] && (st[i]==PEND || st[i]==BLK) && (C2STRICT || !ex[i]) -> assert(!b)
           :: else fi;
        k=0; b=0; i++ :: else -> break od; i=0 }

/* Settlement, of the decisions out; ca, cs, cg: attempts, status and generation as claimed; fb: it was BLOCKED */
inline apply() {
  i=0; w=NONE; lw=0; hb=0; prog=0; stay=0;
  do :: i<N ->
     if :: out[i]==OK ->
           prog=(prog || fb);
           if :: st[i]!=GONE -> undecided[i]=0; st[i]=GONE; att[i]=0; failed[i]=0 :: else fi
        :: out[i]>OK ->
           b=(LIVE(i) && SAME(i));
           if :: b ->
                 if :: out[i]==FAIL -> att[i]++ :: else fi;
                 ONCE(i);
                 if :: out[i]==REJ || out[i]==DIE || att[i]>=MAXATT ->
                       st[i]=DEAD; att[i]=0; failed[i]=0;
                       if :: BKEY && out[i]!=DIE -> undecided[i]=1; hb=i; lw=(w==NONE || !LOWTWO -> i : lw); w=HALT
                          :: else -> ex[i]=1; prog=(prog || fb) fi
                    :: else -> st[i]=BLK; failed[i]=1; lw=(w==NONE -> i : lw); w=(w==NONE -> WAIT : w) fi
              :: else ->
                 stay=(stay || out[i]!=DIE);
                 if :: !RETKEY -> lw=(w==NONE -> i : lw); hb=(BKEY && out[i]==REJ -> i : hb); w=(BKEY && out[i]==REJ -> HALT : WAIT)
                    :: else fi
           fi; b=0
        :: else fi;
     i++ :: else -> break od; i=0;
  if :: prog && !stay && !HALTCLEAN -> advance() :: else fi;    /* first who may go on */
  if :: w!=NONE ->                                              /* then who must wait */
        low=(row==NONE || low>lw -> lw : low);
        haltedBy=(w==HALT -> hb : haltedBy);
        row=(row==HALT -> HALT : w)
     :: else fi;
  if :: HALTCLEAN -> advance() :: else fi;
  w=NONE; lw=0; hb=0; prog=0; stay=0 }

inline forget() { i=0; do :: i<N -> have[i]=0; out[i]=0; FORGET(i); i++ :: else -> break od; i=0; n=0; stop=0; mv=0; fb=0 }
inline giveUp() { live[me]=0; idle[me]=1; LOSTIT; forget(); twice=0; goto again }

proctype Relay(bit me) {
  bool have[N]; byte out[N];
#if REPEAT
  byte ca[N]; byte cs[N]; bool cg[N];
#endif
  byte i, k, n, lim, p, w, lw, hb; bool b, fb, stop, mv, ok, twice, prog, stay;
again:
  do
  :: atomic { (holder==FREE || expired) ->                                        /* T1 */
        idle[me]=0; holder=me; expired=0; live[me]=1;
        assert(NOC1 || !(live[0] && live[1]));                                    /* C1 */
        read();
#if SPLITMOVE
     }
     atomic { if :: mv -> if :: moves(1) :: moves(2) :: moves(N) fi; mv=0 :: else fi;
#endif
        if :: n==0 -> if :: holder==me -> holder=FREE; expired=0 :: else fi; giveUp() :: else n=0 fi
     }
publish:
     do
     :: i<N -> atomic {
          if :: !have[i] || (stop && !P2OFF) ->
                if :: TWO && have[i] && i>0 && out[i-(i>0)]>OK -> out[i]=REJ
                   :: skip fi
             :: else ->
                if :: skip; deliver(i); out[i]=OK
                   :: out[i]=FAIL; REPORT(i); stop=1
                   :: skip; deliver(i); out[i]=FAIL; REPORT(i); stop=1                   /* the acknowledgement was lost */
                   :: TWO!=1 -> out[i]=REJ; stop=1
                   :: BKEY==2 -> out[i]=DIE; stop=1
                   :: UNAVAIL -> out[i]=UNAV; stop=1
                   :: stop=1                                                      /* no decision */
                fi;
                if :: PREFETCH -> stop=0 :: else fi
          fi; i++ }
     :: atomic { i<N -> i=0; giveUp() }                                           /* it crashed */
     :: else -> break
     od;
settle:
     atomic { i=0; ok=(!FENCE || holder==me);
#if SPLITSET
     }
     atomic {
#endif
        if :: !ok -> giveUp()
           :: ok -> ok=0; SENT;
              apply();
              if :: holder=FREE; expired=0; giveUp()                               /* T3 */
                 :: holder==me && !twice -> expired=0; live[me]=1;                 /* T2 */
                    assert(NOC1 || !(live[0] && live[1]));
                    if
#if REPEAT
                    :: twice=1; limits(); if :: row!=NONE -> moves(p) :: else fi;  /* nobody hears what it read */
                       p=0; lim=0; goto settle
#endif
                    :: LOSTIT; forget(); read();
                       if :: n==0 -> holder=FREE; expired=0; giveUp() :: else n=0; mv=0; goto publish fi
                    fi
              fi
        fi
     }
  od }

proctype Env() { byte i, k, w, lw, hb; bool b, prog, stay;
#if REPEAT==2
  byte out[N]; byte ca[N]; byte cs[N]; bool cg[N]; bool fb;
#endif
  do
  :: atomic { holder!=FREE && !expired -> expired=1; live[0]=0; live[1]=0 }
  :: atomic { row==WAIT -> row=DUE }
  :: atomic { SCHED && !due && (st[0]==SCH || st[1]==SCH) -> due=1 }
#if REPEAT==2
  :: atomic { lateOf!=FREE ->
        if :: lateOf==holder ->
              fb=lfb; i=0; do :: i<N -> out[i]=lout[i]; ca[i]=latt[i]; cs[i]=lst[i]; cg[i]=lgen[i]; i++ :: else -> break od;
              apply();
              fb=0; i=0; do :: i<N -> out[i]=0; ca[i]=0; cs[i]=0; cg[i]=0; i++ :: else -> break od
           :: else fi; DROP }
#endif
#if OPREQ || OPDISC
  :: atomic { ops<OPMAX ->
        i=0; do :: i<N -> i++ :: i<N && st[i]==DEAD -> break :: i==N -> break od;   /* any */
        if :: i<N ->
              ops++; undecided[i]=0; ex[i]=(BKEY && OPREQ -> ex[i] : 1);
              b=(row==HALT && (!HALTEDBY || haltedBy==i));                        /* Statements.unhalt */
#if OPREQ
              REQUEUED(i);
              if :: OPREQ==1 && b -> st[i]=BLK; low=(LOWREQ && low>i -> i : low)
                 :: OPREQ==1 && !b -> st[i]=SCH; due=1; ex[i]=1
                 :: OPREQ==2 -> st[i]=PEND
                 :: OPREQ==3 && st[N-1]==ABSENT && allin -> st[i]=GONE; del[i]=1; st[N-1]=PEND;
#if OPREQ==3
                    renewed=i
#endif
                 :: OPREQ==3 && !(st[N-1]==ABSENT && allin) -> undecided[i]=(BKEY!=0); b=0
                 :: OPREQ==4 -> st[i]=BLK
              fi;
#endif
#if OPDISC
              st[i]=GONE; del[i]=1;
              if :: OPDISC==2 && b -> k=i; anyBlocked(0); i=k; k=0; w=(b -> 0 : 2) :: else fi;
#endif
              if :: b -> row=DUE; haltedBy=0 :: else fi
           :: else fi; i=0; b=0 }
     if :: w==2 -> atomic { noRow(); w=0 } :: else fi
#endif
  od }

proctype Producer() {                   /* serialised (O5): commits in the order of sequences */
#if LATE
  st[1]=PEND;
  if :: st[0]=PEND :: skip fi;
#if N>2
  st[2]=PEND;
#endif
  if :: st[0]==ABSENT -> st[0]=PEND :: else fi;
#else
  st[0]=(SCHED==1 -> SCH : PEND); st[1]=(SCHED==2 -> SCH : PEND);
#if N>2 && !(OPREQ==3 && N==3)
  st[2]=PEND;
#endif
#if N>3 && OPREQ!=3
  st[3]=PEND;
#endif
#endif
  allin=1 }

/* Of the relays and operators nothing may leave a message that nobody ever finds (C6). */
#define LOST(i) (st[i]==BLK && (row==NONE || low>i))
proctype Watch() { byte i;
  do
  :: atomic { LOST(0) || LOST(1) || (N>2 && LOST((2*(N>2)))) || (N>3 && LOST((3*(N>3)))) -> assert(0) }   /* stuck: no row leads there */
  :: atomic { row==HALT && st[haltedBy]!=DEAD -> assert(0) }                      /* stuck: nothing to decide about */
  :: atomic { allin && idle[0] && idle[1] ->                                      /* nothing is gone that was not delivered */
        i=0; do :: i<N -> assert(st[i]!=GONE || del[i]); i++ :: else -> break od; i=0 }
  od }

init { atomic {
  if :: LATE -> ex[0]=1 :: SCHED -> ex[SCHED-(SCHED>0)]=1 :: else fi;
  idle[0]=1; idle[1]=1; run Producer(); run Env(); run Watch(); run Relay(0); run Relay(1) } }
