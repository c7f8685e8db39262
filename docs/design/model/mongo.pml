/* MongoDB: the lease is taken outside the transaction, and each of a claim's transactions reads one snapshot and
   counts up fence in its bucket's document. docs/design/mongodb.md

   Two relays, one bucket, one key with two messages. A transaction's snapshot and its commands are one step, its
   commit another one: between them it may stall, be killed, or be overtaken. Two transactions that write one document
   do not both commit. Plain commands (the lease, adoption) take effect at once and wait for open writers.

   lease     MongoLeases.take        begin(T1) MongoLeases.fence, MongoReads, BlockedReads, MongoWrites.move
   giveBack  MongoLeases.giveBack    begin(T2, T3) MongoLeases.lockHeld, Settlement, MongoLeases.release
   commit    MongoTransactions       adopt     PlainInsertAdoption

   Switches (-DNAME=value), defaults as the code is:
   FENCE     1  0: transactions read whether the bucket is theirs, and write nothing (or what changes nothing)
   FENCE1    1  0: the same in T1 only
   GIVEBACK  1  a claim that fails gives back what has its owner id; 2: the buckets that it leased, by number
   ADOPT     0  1: messages come by plain inserts
   CUT       1  nothing is handed out past a document that is not adopted in the same snapshot; 0: it is;
                2: that was asked before the lease
   NOC1      0  1: two live claims, and a commit without the bucket, are not errors by themselves          */
#ifndef FENCE
#define FENCE 1
#endif
#ifndef FENCE1
#define FENCE1 FENCE
#endif
#ifndef GIVEBACK
#define GIVEBACK 1
#endif
#ifndef ADOPT
#define ADOPT 0
#endif
#ifndef CUT
#define CUT 1
#endif
#ifndef NOC1
#define NOC1 0
#endif
#define N 2
#define ABSENT 0
#define RAW 1           /* inserted, not adopted */
#define PEND 2
#define BLK 3
#define GONE 4
#define NONE 0
#define WAIT 1
#define DUE 2
#define FREE 2
#define OK 1
#define FAIL 2

byte st[N]; byte row;                   /* documents of messages, and of the blocked key */
byte owner = FREE; bool expired;        /* the bucket's */
byte lock = FREE;                       /* whose open transaction has written it */
bool open[2]; bool conflict[2];         /* somebody else's write to what this transaction has read and means to write */
bool wm[2*N]; bool wr[2]; bool wb[2];   /* what it means to write: messages, blocked key, bucket */
/* ghosts */
bool live[2]; bool del[N];

inline wrote(m) { if :: open[1-me] && wm[(1-me)*N+m] -> conflict[1-me]=1 :: else fi }

inline end() { if :: lock==me -> lock=FREE :: else fi;
  open[me]=0; conflict[me]=0; wr[me]=0; wb[me]=0; i=0; do :: i<N -> wm[me*N+i]=0; new[i]=0; i++ :: else -> break od; i=0; newRow=0 }

inline forget() { i=0; do :: i<N -> have[i]=0; out[i]=0; i++ :: else -> break od; i=0; stop=0; live[me]=0 }

/* reads in the snapshot, of what this transaction has written too; the limit lets it take one or all */
inline read() {
  i=0; do :: i<N ->
        if :: new[i]==RAW && CUT==1 -> break
           :: CUT==2 && i==cut -> break
           :: else fi;
        if :: new[i]==PEND && newRow!=NONE -> new[i]=BLK; wm[me*N+i]=1
           :: else fi;
        if :: (newRow==NONE && new[i]==PEND) || (newRow==DUE && new[i]==BLK) ->
              have[i]=1; if :: break :: skip fi
           :: else fi;
        i++ :: else -> break od;
  i=0; do :: i<N && !have[i] -> i++ :: else -> break od; none=(i==N); i=0 }

/* the first command: the snapshot is taken, and the bucket's document is written */
#define BEGIN(f) \
  open[me]=1; i=0; do :: i<N -> new[i]=st[i]; i++ :: else -> break od; i=0; newRow=row; \
  ours=(owner==me); \
  if :: ours && f && lock==FREE -> lock=me; wb[me]=1 \
     :: ours && f && lock!=FREE -> conflict[me]=1 \
     :: else fi

/* Settlement and advance, on the snapshot */
inline apply() {
  i=0; any=0; do :: i<N ->
        if :: out[i]==OK && new[i]!=GONE -> new[i]=GONE; wm[me*N+i]=1
           :: out[i]==FAIL && (new[i]==PEND || new[i]==BLK) -> new[i]=BLK; wm[me*N+i]=1; newRow=WAIT; wr[me]=1; any=1
           :: else fi; i++ :: else -> break od; i=0;
  if :: newRow!=NONE && !any ->
        do :: i<N && new[i]!=BLK -> i++ :: else -> break od;
        newRow=(i==N -> NONE : DUE); wr[me]=1; i=0
     :: else fi; any=0 }

/* S1: what it writes is still its own */
inline commit() {
  assert(NOC1 || owner==me);
  i=0; do :: i<N -> if :: wm[me*N+i] -> st[i]=new[i]; wrote(i) :: else fi; i++ :: else -> break od; i=0;
  if :: wr[me] -> row=newRow; if :: open[1-me] && wr[1-me] -> conflict[1-me]=1 :: else fi :: else fi;
  if :: wb[me] && open[1-me] && wb[1-me] -> conflict[1-me]=1 :: else fi;
  end() }

inline forgetOut() { i=0; do :: i<N -> out[i]=0; i++ :: else -> break od; i=0; stop=0 }

proctype Relay(bit me) { byte i, cut; bool have[N]; byte out[N]; byte new[N]; byte newRow; bool stop, none, ours, next, any;
again:
  do
  :: atomic { (owner==FREE || expired) && lock==FREE ->                              /* lease */
        if :: CUT==2 -> do :: cut<N && st[cut]!=RAW -> cut++ :: else -> break od :: else fi;
        owner=me; expired=0;
        if :: open[1-me] && wb[1-me] -> conflict[1-me]=1 :: else fi }
begin1:
     atomic { BEGIN(FENCE1); if :: ours -> read() :: else fi };
     if
     :: atomic { conflict[me] -> end(); forget(); ours=0; none=0; goto begin1 }      /* run again */
     :: atomic { !conflict[me] && !ours -> end(); none=0; cut=0; goto again }
     :: atomic { !conflict[me] && ours -> commit(); cut=0; live[me]=!expired; assert(NOC1 || !(live[0] && live[1]));
           if :: none && owner==me -> owner=FREE; expired=0; none=0; forget(); goto again
              :: none && owner!=me -> none=0; forget(); goto again :: else -> none=0 fi }
     :: atomic { end(); forget(); none=0; ours=0; cut=0; goto giveBack }              /* it fails, or its commit's */
     :: atomic { !conflict[me] && ours -> commit(); forget(); none=0; cut=0; goto giveBack }   /* reply is lost */
     :: atomic { goto endStalled }
     fi;
publish:
     do
     :: i<N && !have[i] -> i++
     :: atomic { i<N && have[i] && !stop ->
           if :: assert(del[i] || i==N-1 || !del[i+(i<N-1)]); del[i]=1; out[i]=OK
              :: out[i]=FAIL; stop=1 :: stop=1 fi; i++ }
     :: i<N && have[i] && stop -> i++
     :: atomic { i<N -> i=0; forget(); goto again }                                   /* crash */
     :: else -> break
     od;
     i=0;
decide:
     atomic { if :: next=1 :: next=0 fi;
        BEGIN((FENCE || !next));
        if :: ours -> apply(); if :: next -> i=0; do :: i<N -> have[i]=0; i++ :: else -> break od; read() :: else fi
           :: else fi };
     if
     :: atomic { conflict[me] && next -> end(); do :: i<N -> have[i]=0; i++ :: else -> break od; i=0; none=0; ours=0; next=0; goto decide }
     :: atomic { conflict[me] && !next -> end(); ours=0; goto decide }
     :: atomic { !conflict[me] && !ours -> end(); forget(); next=0; goto again }      /* lost */
     :: atomic { !conflict[me] && ours && next -> commit(); forgetOut(); live[me]=1;
           assert(NOC1 || !(live[0] && live[1])); expired=(owner==me -> 0 : expired); next=0; ours=0;
           if :: none && owner==me -> owner=FREE; expired=0; none=0; forget(); goto again
              :: none && owner!=me -> none=0; forget(); goto again :: else -> none=0; goto publish fi }
     :: atomic { !conflict[me] && ours && !next -> commit(); if :: owner==me -> owner=FREE; expired=0 :: else fi; ours=0; forget(); goto again }
     :: atomic { goto endStalled }
     fi;
giveBack:
     if :: atomic { lock==FREE && (owner==me || GIVEBACK==2) -> owner=FREE; expired=0; live[me]=0;
              if :: open[1-me] && wb[1-me] -> conflict[1-me]=1 :: else fi; goto again }
        :: atomic { live[me]=0; goto again }                                          /* it cannot: they run out */
     fi;
endStalled:                                                                           /* until it is killed */
     atomic { !open[me] -> end(); forget(); none=0; ours=0; next=0; cut=0; goto again }
  od }

proctype Env() { byte i;
  do
  :: atomic { owner!=FREE && !expired -> expired=1; live[0]=0; live[1]=0 }
  :: atomic { row==WAIT -> row=DUE }
  :: atomic { expired && lock!=FREE -> conflict[lock]=1; open[lock]=0; lock=FREE }    /* killSessions by who wants it */
#if ADOPT
  :: atomic { st[0]==RAW -> st[0]=PEND }
  :: atomic { st[1]==RAW -> st[1]=PEND }
#endif
  od }

proctype Producer() { st[0]=(ADOPT -> RAW : PEND); st[1]=(ADOPT -> RAW : PEND) }

proctype Watch() {                      /* stuck: BLOCKED, and no blocked key leads there */
  atomic { (st[0]==BLK || st[1]==BLK) && row==NONE -> assert(0) } }

init { atomic { run Producer(); run Env(); run Watch(); run Relay(0); run Relay(1) } }
